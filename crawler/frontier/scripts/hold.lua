-- HOLD: the URL cannot be judged now; it waits outside the queue, longer every time.
-- ARGV 5 token  6 until (ms)  7 reason  8 first pause (ms)  9 longest pause (ms)  10 sent or ''. Returns until, 0 = stale
local lease = read_leases({ARGV[5]})[1]
if not lease then return 0 end
local attempts, holds, rest = split(lease.member)
local pause = math.min(num(ARGV[8]) * 2 ^ math.min(holds, 30), num(ARGV[9]))
local at = math.max(num(ARGV[6]), now + pause)
hang_up(lease, ARGV[10], 0)
no_verdict(lease.scope, lease.token)
because(lease.scope, rest, ARGV[7])
forget({ARGV[5]})
park(HELD, at, lease.scope, lease.score, join(attempts, holds + 1, rest))
save()
return at
