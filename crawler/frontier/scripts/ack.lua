-- ACK: the URL is finished, everything it led to is durable. ARGV 5.. : (token, sent ms or '', latency ms)*
-- Returns per token 1, or 0 where the lease had expired: then nothing happens.
local answers, touched = {}, {}
for i = 5, #ARGV, 3 do
  local token = ARGV[i]
  local wire, scope, score, slot, member = read_lease(token)
  if wire then
    forget(token)
    hang_up(wire, scope, slot, ARGV[i + 1], ARGV[i + 2])
    local attempts, holds, rest = split(member)
    local key = scope .. '\t' .. rest
    if wire == 'd' then
      call('HSET', DEAD, key, call('HGET', WHY, key) or '')
    else
      count('done', 1)
    end
    if attempts > 0 or holds > 0 then call('HDEL', WHY, key) end
    if wire == 'o' then touched[scope] = true end
  end
  answers[#answers + 1] = wire and 1 or 0
end
for scope in pairs(touched) do refresh(scope) end
flush()
return answers
