-- ACK: the URL is finished, everything it led to is durable. ARGV 5.. : (token, sent ms or '', latency ms,
-- visit or '')*. The visit is remembered in the same step, so that a crash leaves both or neither.
-- Returns per token 1, or 0 where the lease had expired: then nothing happens.
local tokens, answers = {}, {}
for i = 5, #ARGV, 4 do tokens[#tokens + 1] = ARGV[i] end
local found, settled, finished = read_leases(tokens), {}, 0
for i, token in ipairs(tokens) do
  local lease = found[i]
  if lease and not settled[token] then
    settled[token] = true
    hang_up(lease, ARGV[4 * i + 2], ARGV[4 * i + 3])
    local attempts, holds, rest = split(lease.member)
    local key = lease.scope .. '\t' .. rest
    if lease.wire == 'd' or ARGV[4 * i + 2] == '' then no_verdict(lease) else answered(lease) end
    local visit = ARGV[4 * i + 4]
    local dead = lease.wire == 'd' and not is_remembered(visit)
    if dead then
      call('HSET', DEAD, key, call('HGET', WHY, key) or '')
    else
      count('done', 1)
      if visit ~= '' then remember(visit, lease.scope, rest) end
    end
    tally(dead and 'failed' or 'done', lease.scope, 1)
    finished = finished + 1
    if attempts > 0 or holds > 0 or lease.wire == 'd' then call('HDEL', WHY, key) end
  end
  answers[i] = lease and 1 or 0
end
forget(tokens)
save_tallies()
finished_lately(finished)
save()
return answers
