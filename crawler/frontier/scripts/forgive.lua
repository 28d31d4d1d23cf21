-- FORGIVE: the breakers of these scopes close, and the blocks that they set end. ARGV 5.. scopes. Returns how many
-- were open. A pause by hand and a block that the server asked for stay as they are.
local open = 0
for i = 5, #ARGV do
  local scope = ARGV[i]
  local s = state(scope)
  if s.openings > 0 then open = open + 1 end
  s.failures, s.openings, s.probe = 0, 0, ''
  if string.sub(call('HGET', WHY, scope .. '\t') or '', 1, 8) == 'breaker:' then
    call('ZREM', WAIT, scope)
    call('HDEL', WHY, scope .. '\t')
    s.next, s.ready = now + s.delay, nil
  end
end
save()
return open
