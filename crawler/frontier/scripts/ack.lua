-- ACK: the URL is finished, everything it led to is durable. ARGV 5.. : (token, sent ms or '', latency ms,
-- visit or '')*. The visit is remembered in the same step, so that a crash leaves both or neither.
-- Returns per token 1, or 0 where the lease had expired: then nothing happens.
local tokens, names, answers, gone, n = {}, {}, {}, {}, 0
for i = 5, #ARGV, 4 do
  n = n + 1
  tokens[n] = ARGV[i]
end
if n == 0 then return answers end
local kept, taken, k = call('HMGET', LEASE, unpack(tokens)), {}, 0
local payloads, sents, latencies, visits_of, members = {}, {}, {}, {}, {}
for i = 1, n do
  local payload, token = kept[i], tokens[i]
  answers[i] = payload and 1 or 0
  if payload and not taken[token] then
    local scope, at = scope_of(payload)
    k = k + 1
    taken[token], gone[k], payloads[k], names[k] = true, token, payload, scope
    sents[k], latencies[k], visits_of[k] = ARGV[4 * i + 2], ARGV[4 * i + 3], ARGV[4 * i + 4]
    -- the member itself only where somebody needs it
    if visits_of[k] ~= '' or byte(payload, at) < 58 or byte(payload) == 100 then members[k] = match(payload, '^[^\t]*', at) end
  end
end
if k == 0 then return answers end

local marks, dead = end_requests(payloads, names, sents, latencies), 0
for i = 1, k do
  local scope, member, verdict = names[i], members[i], 'done'
  local died = byte(payloads[i]) == 100  -- 'd'
  if marks[i] then
    if died or sents[i] == '' then rare().no_verdict(scope, gone[i]) else rare().answered(scope) end
  end
  if member then
    local attempts, holds, rest = rare().split(member)
    local key = scope .. '\t' .. rest
    if died and not rare().is_remembered(visits_of[i]) then
      verdict, dead = 'failed', dead + 1
      call('HSET', P .. 'dead', key, call('HGET', WHY, key) or '')
    elseif visits_of[i] ~= '' then
      rare().remember(visits_of[i], scope, rest)
    end
    if died or attempts > 0 or holds > 0 then call('HDEL', WHY, key) end
  end
  tally(verdict, scope, 1)
end
forget(gone)
save_tallies()
finished(k, k - dead)
save_if_needed()
return answers
