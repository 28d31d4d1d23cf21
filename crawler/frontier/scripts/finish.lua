-- FINISH: the request is over, its page is still being worked on: the scope is free for the next request.
-- ARGV 5.. : (token, sent ms or '', latency ms)*. Returns per token 1, or 0 where the lease had expired.
local tokens, answers, payloads, taken, k = {}, {}, {}, {}, 0
for i = 5, #ARGV, 3 do tokens[#tokens + 1] = ARGV[i] end
if #tokens == 0 then return answers end
local wires, names, slots, sents, latencies = {}, {}, {}, {}, {}
for i, payload in ipairs(call('HMGET', LEASE, unpack(tokens))) do
  answers[i] = payload and 1 or 0
  if payload and byte(payload) == 111 and not taken[tokens[i]] then  -- 'o'
    k = k + 1
    taken[tokens[i]] = true
    wires[k], names[k], slots[k] = match(payload, '^(%a)\t([^\t]*)\t[^\t]*\t([^\t]*)\t')
    sents[k], latencies[k] = ARGV[3 * i + 3], ARGV[3 * i + 4]
    payloads[2 * k - 1], payloads[2 * k] = tokens[i], 'c' .. string.sub(payload, 2)
  end
end
if k == 0 then return answers end
end_requests(wires, names, slots, sents, latencies)
call('HSET', LEASE, unpack(payloads))
save()
return answers
