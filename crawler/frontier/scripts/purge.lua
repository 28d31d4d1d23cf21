-- PURGE: everything queued for a scope goes, and nothing new is taken. ARGV 5 scope. Returns how many went.
local scope, gone = ARGV[5], 0
call('SADD', PURGED, scope)
gone = call('ZCARD', queue(scope)) + state(scope).spilled
state(scope).spilled = 0
call('DEL', queue(scope), overflow(scope))
count('queued', -gone)
for _, key in ipairs({LATER, HELD, ALONE}) do
  for _, entry in ipairs(call('ZRANGE', key, 0, -1)) do
    if string.sub(entry, 1, #scope + 1) == scope .. '\t' then
      call('ZREM', key, entry)
      gone = gone + 1
      if key ~= HELD then count('queued', -1) end
    end
  end
end
local parked = num(call('HGET', P .. 'barren', scope) or 0)
if parked > 0 then
  call('HDEL', P .. 'barren', scope)
  call('DEL', P .. 'z:' .. scope)
  count('barren', -parked)
  gone = gone + parked
end
count('purged', gone)
state(scope)
save()
return gone
