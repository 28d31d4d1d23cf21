-- REQUEUE: bring URLs back into their queues. ARGV 5 what: due (held, its time has come) | held | later | dead |
-- leased (all workers are gone)  6 at most n.
-- Returns how many. A dead URL starts again with all its tries.
local what, n = ARGV[5], num(ARGV[6])
local moved = 0
if what == 'dead' then
  local found = call('HSCAN', DEAD, '0', 'COUNT', n)[2]
  for i = 1, #found, 2 do
    local scope, rest = string.match(found[i], '^([^\t]*)\t(.*)$')
    call('HDEL', DEAD, found[i])
    count('queued', 1)
    push(scope, call('HINCRBY', ST, 'sequence', 1), rest)
    moved = moved + 1
  end
elseif what == 'leased' then
  local tokens = call('ZRANGE', LEASES, 0, n - 1)
  reclaim(tokens)
  moved = #tokens
else
  local key = what == 'later' and LATER or HELD
  local entries = call('ZRANGEBYSCORE', key, '-inf', what == 'due' and now or '+inf', 'LIMIT', 0, n)
  unpark(key, entries)
  moved = #entries
end
save()
return moved
