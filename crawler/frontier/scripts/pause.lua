-- PAUSE: nobody asks this scope until it is resumed. ARGV 5 scope. Returns 1, 0 = a person has paused it already.
local scope = ARGV[5]
if call('HEXISTS', PAUSED, scope) == 1 then
  if call('HDEL', LIMITED, scope) == 0 then return 0 end
  call('HSET', WHY, scope .. '\t', 'hold_paused')
  return 1
end
pause(scope, 'hold_paused')
save()
return 1
