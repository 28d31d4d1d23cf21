-- BLOCK: nobody asks this scope before a time. ARGV 5 scope  6 until (ms)  7 reason, '' = its pace: no block to be told
local scope, at = ARGV[5], num(ARGV[6])
if at <= now then return 0 end
local paused = call('HGET', P .. 'paused', scope)
if paused then  -- holds when the scope is resumed
  if ARGV[7] == '' then return 1 end
  if at > num(string.match(paused, '^%d+')) then call('HSET', P .. 'paused', scope, ARGV[6] .. '\t' .. ARGV[7]) end
  return 1
end
not_before(state(scope), at)
if ARGV[7] ~= '' then
  call('ZADD', WAIT, 'GT', at, scope)
  call('HSET', WHY, scope .. '\t', ARGV[7])
end
save()
return 1
