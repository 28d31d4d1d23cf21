-- FINISH: the request is over, its page is still being worked on: the scope is free for the next request.
-- ARGV 5.. : (token, sent ms or '', latency ms)*, every token once. Returns per token 1, or 0 where the lease had expired.
local tokens, answers, entries, n, k = {}, {}, {}, 0, 0
for i = 5, #ARGV, 3 do
  n = n + 1
  tokens[n] = ARGV[i]
end
if n == 0 then return answers end
local kept, payloads, wires, names, where = call('HMGET', LEASE, unpack(tokens)), {}, {}, {}, {}
for i = 1, n do
  local payload = kept[i]
  answers[i] = payload and 1 or 0
  if payload and byte(payload) == 111 then  -- 'o'
    k = k + 1
    payloads[k], wires[k], where[k], names[k] = payload, 111, 2 + 3 * i, scope_of(payload)
    entries[2 * k - 1], entries[2 * k] = tokens[i], 'c' .. sub(payload, SLOT_AT)
  end
end
if k == 0 then return answers end
end_requests(payloads, wires, names, where)
call('HSET', LEASE, unpack(entries))
save_if_needed()
return answers
