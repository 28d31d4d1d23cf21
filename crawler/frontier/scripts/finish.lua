-- FINISH: the request is over, its page is still being worked on: the scope is free for the next request.
-- ARGV 5.. : (token, sent ms or '', latency ms)*. Returns per token 1, or 0 where the lease had expired.
local tokens, answers = {}, {}
for i = 5, #ARGV, 3 do tokens[#tokens + 1] = ARGV[i] end
local found, payloads = read_leases(tokens), {}
for i, token in ipairs(tokens) do
  local lease = found[i]
  if lease and lease.wire == 'o' then
    hang_up(lease, ARGV[3 * i + 3], ARGV[3 * i + 4])
    payloads[#payloads + 1] = token
    payloads[#payloads + 1] = encode('c', lease.scope, lease.score, lease.slot, lease.member)
  end
  answers[i] = lease and 1 or 0
end
if #payloads > 0 then call('HSET', LEASE, unpack(payloads)) end
save()
return answers
