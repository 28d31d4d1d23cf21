-- RESPELL: the server names a leased URL in another spelling; it is asked again in that one, in its place. ARGV 5 token
-- 6 sent or '' 7 its member, untried. Returns 1, or 0 where the lease had expired: then nothing happens.
local lease = read_leases({ARGV[5]})[1]
if not lease then return 0 end
local _, _, rest = split(lease.member)
hang_up(lease, ARGV[6], 0)
if ARGV[6] == '' then no_verdict(lease.scope, lease.token) else answered(lease.scope) end
forget({lease.token})
call('HDEL', WHY, lease.scope .. '\t' .. rest)
count('queued', 1)
push(lease.scope, lease.score, ARGV[7])
save()
return 1
