-- PAUSE: nobody asks this scope until it is resumed. ARGV 5 scope  6 for ever (ms). Returns 1, 0 = paused already.
-- A block that was there before is remembered and holds again afterwards, for as long as it still lasts.
local scope, forever = ARGV[5], num(ARGV[6])
if call('HEXISTS', P .. 'paused', scope) == 1 then return 0 end
local before = call('ZSCORE', WAIT, scope)
call('HSET', P .. 'paused', scope, (before or '0') .. '\t' .. (call('HGET', WHY, scope .. '\t') or ''))
not_before(state(scope), forever)
call('ZADD', WAIT, forever, scope)
call('HSET', WHY, scope .. '\t', 'hold_paused')
save()
return 1
