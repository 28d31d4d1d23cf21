-- FINISH: the request is over, its page is still being worked on: the scope is free for the next request.
-- ARGV 5.. : (token, sent ms or '', latency ms)*. Returns per token 1, or 0 where the lease had expired.
local tokens, answers, entries, taken, k = {}, {}, {}, {}, 0
for i = 5, #ARGV, 3 do tokens[#tokens + 1] = ARGV[i] end
if #tokens == 0 then return answers end
local payloads, names, sents, latencies = {}, {}, {}, {}
for i, payload in ipairs(call('HMGET', LEASE, unpack(tokens))) do
  answers[i] = payload and 1 or 0
  if payload and byte(payload) == 111 and not taken[tokens[i]] then  -- 'o'
    k = k + 1
    taken[tokens[i]], payloads[k], names[k] = true, payload, scope_of(payload)
    sents[k], latencies[k] = ARGV[3 * i + 3], ARGV[3 * i + 4]
    entries[2 * k - 1], entries[2 * k] = tokens[i], 'c' .. sub(payload, 2)
  end
end
if k == 0 then return answers end
end_requests(payloads, names, sents, latencies)
call('HSET', LEASE, unpack(entries))
save_if_needed()
return answers
