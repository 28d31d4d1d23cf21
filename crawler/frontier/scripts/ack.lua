-- ACK: the URL is finished, everything it led to is durable. ARGV 5.. : (token, sent ms or '', latency ms,
-- visit or '')*. The visit is remembered in the same step, so that a crash leaves both or neither.
-- Returns per token 1, or 0 where the lease had expired: then nothing happens.
local tokens, names, answers, gone = {}, {}, {}, {}
for i = 5, #ARGV, 4 do tokens[#tokens + 1] = ARGV[i] end
if #tokens == 0 then return answers end
local kept, taken, k = call('HMGET', LEASE, unpack(tokens)), {}, 0
local wires, slots, sents, latencies, visits_of, members = {}, {}, {}, {}, {}, {}
for i, payload in ipairs(kept) do
  answers[i] = payload and 1 or 0
  if payload and not taken[tokens[i]] then
    k = k + 1
    taken[tokens[i]], gone[k] = true, tokens[i]
    local at
    wires[k], names[k], slots[k], at = match(payload, '^(%a)\t([^\t]*)\t[^\t]*\t([^\t]*)\t()')
    sents[k], latencies[k], visits_of[k] = ARGV[4 * i + 2], ARGV[4 * i + 3], ARGV[4 * i + 4]
    -- the member itself only where somebody needs it
    if wires[k] == 'd' or visits_of[k] ~= '' or byte(payload, at) < 58 then members[k] = string.sub(payload, at) end
  end
end
if k == 0 then return answers end

local marks, dead = end_requests(wires, names, slots, sents, latencies), 0
for i, scope in ipairs(names) do
  local wire, member, verdict = wires[i], members[i], 'done'
  if marks[i] then
    if wire == 'd' or sents[i] == '' then no_verdict(scope, gone[i]) else answered(scope) end
  end
  if member then
    local attempts, holds, rest = split(member)
    local key = scope .. '\t' .. rest
    if wire == 'd' and not is_remembered(visits_of[i]) then
      verdict, dead = 'failed', dead + 1
      call('HSET', DEAD, key, call('HGET', WHY, key) or '')
    elseif visits_of[i] ~= '' then
      remember(visits_of[i], scope, rest)
    end
    if wire == 'd' or attempts > 0 or holds > 0 then call('HDEL', WHY, key) end
  end
  tally(verdict, scope, 1)
end
forget(gone)
save_tallies()
finished(k, k - dead)
save()
return answers
