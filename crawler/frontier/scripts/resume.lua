-- RESUME: a paused scope goes on. ARGV 5 scope. Returns 1, 0 = it was not paused.
local scope = ARGV[5]
local record = call('HGET', P .. 'paused', scope)
if not record then return 0 end
call('HDEL', P .. 'paused', scope)
local before, why = string.match(record, '^([^\t]*)\t(.*)$')
before = num(before)
local s = state(scope)
local forever = call('ZSCORE', WAIT, scope)
s.next, s.ready = math.max(now + s.delay, before), nil
if before > now then
  call('ZADD', WAIT, before, scope)
  call('HSET', WHY, scope .. '\t', why)
else
  call('ZREM', WAIT, scope)
  call('HDEL', WHY, scope .. '\t')
end
if forever then  -- what was put back until the end of the pause
  local mine = {}
  for _, entry in ipairs(call('ZRANGEBYSCORE', LATER, forever, '+inf')) do
    if string.sub(entry, 1, #scope + 1) == scope .. '\t' then mine[#mine + 1] = entry end
  end
  unpark(LATER, mine)
end
save()
return 1
