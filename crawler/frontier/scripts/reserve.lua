-- RESERVE: one more request to a scope. ARGV 5 scope  6 slot the caller was granted (0 = none)
-- 7 how long it would wait (ms): a turn that is further away stays free.
-- Returns when (ms) and the slot that follows it.
-- Whoever still owns the scope's latest slot goes at once, however late: nobody was promised a time in between.
local s, slot = state(ARGV[5]), num(ARGV[6])
local at = (s.next <= now or s.next == slot) and now or s.next
if at - now <= num(ARGV[7]) then
  not_before(s, at + s.delay)
  save()
end
return {at, at + s.delay}
