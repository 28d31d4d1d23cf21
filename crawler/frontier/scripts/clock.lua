-- CLOCK: the time of the crawl goes on as it went, whatever somebody sets the server's clock to. ARGV 1 the server's
-- time, 5 the time of the crawl as the caller has counted it on since it last asked, 0 = it has just come. Returns by
-- how much (ms) the crawl's time is ahead of the server's; less than 0: it is behind.
-- st.clock: the latest time that anybody knew; st.ahead.
-- A crawl that has not begun is not begun by a question.
if call('EXISTS', ST) == 0 then return '0' end
local SET = 2000  -- ms; less is two workers' measuring
local ALONE = 600000  -- ms that pass only where nobody works: what the server's clock shows may be believed again
local found = call('HMGET', ST, 'clock', 'ahead')
local told, known, ahead = num(ARGV[5]), num(found[1] or 0), num(found[2] or 0)
local latest = math.max(known, told)
if ahead > 0 and now >= latest then
  ahead = 0
elseif now + ahead < latest - SET then
  ahead = latest - now
elseif told > 0 and now + ahead > told + SET and known <= told + SET then
  ahead = told - now  -- it was set on; nobody has gone by it yet
  if ahead <= 0 and ahead > -SET then ahead = 0 end
elseif ahead < 0 and told == 0 and now + ahead > known + ALONE then
  ahead = 0
end
call('HSET', ST, 'clock', integer(math.max(latest, now + ahead)), 'ahead', integer(ahead))
return integer(ahead)
