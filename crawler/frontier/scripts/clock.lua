-- CLOCK: the time of the crawl never goes back, whatever somebody sets the server's clock to. ARGV 1 the server's time
-- 5 the latest time of the crawl that the caller knows, 0 = none. Returns by how much (ms) the crawl's time is ahead.
-- st.clock: the latest time that anybody knew; st.ahead.
-- A crawl that has not begun is not begun by a question.
if call('EXISTS', ST) == 0 then return '0' end
local BACK = 2000  -- ms; less is two workers' measuring
local found = call('HMGET', ST, 'clock', 'ahead')
local latest, ahead = math.max(num(found[1] or 0), num(ARGV[5])), num(found[2] or 0)
if now >= latest then
  ahead = 0
elseif now + ahead < latest - BACK then
  ahead = latest - now
end
call('HSET', ST, 'clock', integer(math.max(latest, now + ahead)), 'ahead', integer(ahead))
return integer(ahead)
