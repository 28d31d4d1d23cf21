-- ACK: the URL is finished, everything it led to is durable. ARGV 5.. : (token, sent ms or '', latency ms, visit or '',
-- outcome or '')*, every token once. Visit and outcome (outcomes.lua) are remembered in the same step, so that a crash
-- leaves all or nothing.
-- Returns per token 1, or 0 where the lease had expired: then nothing happens.
local tokens, answers, n, k = {}, {}, 0, 0
for i = 5, #ARGV, 5 do
  n = n + 1
  tokens[n] = ARGV[i]
end
if n == 0 then return answers end
local suspects = call('EXISTS', SUSPECTS) == 1
local kept, payloads, wires, names, where, members = call('HMGET', LEASE, unpack(tokens)), {}, {}, {}, {}, {}
for i = 1, n do
  local payload = kept[i]
  answers[i] = payload and 1 or 0
  if payload then
    local wire, scope, at = byte(payload), scope_of(payload)
    k = k + 1
    payloads[k], wires[k], names[k], where[k] = payload, wire, scope, 5 * i
    -- the member itself only where somebody needs it
    if suspects or ARGV[3 + 5 * i] ~= '' or wire == 100 or byte(payload, at + KIND_AT - 1) < 58 then
      members[k] = match(payload, '^[^\t]*', at)
    end
  end
end
if k == 0 then return answers end

local marks, dead, gone = end_requests(payloads, wires, names, where), 0, {}
for i = 1, k do
  local scope, member, place, verdict = names[i], members[i], where[i], 'done'
  local died = wires[i] == 100  -- 'd'
  gone[i] = ARGV[place]
  if marks[i] then
    if died or ARGV[place + 1] == '' then rare().no_verdict(scope, gone[i]) else rare().answered(scope) end
  end
  if member then
    local attempts, holds, rest = rare().split(member)
    local key, visit = scope .. '\t' .. rest, ARGV[place + 3]
    if died and not rare().is_remembered(visit) then
      verdict, dead = 'failed', dead + 1
      call('HSET', P .. 'dead', key, call('HGET', WHY, key) or '')
    elseif visit ~= '' then
      rare().remember(visit, scope, rest)
    end
    if suspects and call('HDEL', SUSPECTS, key) == 1 or died or attempts > 0 or holds > 0 then call('HDEL', WHY, key) end
  end
  tally(verdict, scope, 1)
  if ARGV[place + 4] ~= '' then learn(scope, ARGV[place + 4]) end
end
forget(gone)
save_tallies()
finished(k, k - dead)
adapt()
save_if_needed()
return answers
