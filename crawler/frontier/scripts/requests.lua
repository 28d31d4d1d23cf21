-- Requests that are over, for ack and finish. One request at a time to a scope with nothing to say is the usual case: it
-- goes without a table for the scope, in a third of the time.

-- Scopes whose only request is over, when (sent + delay or later) each may be asked again.
local function rest(names, times)
  local keys, ready, rested, k, l, last, shown = {}, {}, {}, 0, 0, now, ARGV[1]
  for i = 1, #names do keys[i] = QUEUE .. names[i] end
  local all = call('EXISTS', unpack(keys)) == #keys
  for i = 1, #names do
    local at = times[i]
    if at ~= last then last, shown = at, integer(at) end  -- mostly the same as before
    if all or call('EXISTS', keys[i]) == 1 then
      ready[k + 1], ready[k + 2], k = at > now and shown or ARGV[1], names[i], k + 2
    elseif at > now then
      rested[l + 1], rested[l + 2], l = shown, names[i], l + 2
    end
  end
  call('HDEL', BUSY, unpack(names))
  if k > 0 then call('ZADD', READY, unpack(ready)) end
  if l > 0 then call('ZADD', NEXT, unpack(rested)) end
end
-- The requests of these leases are over: their scopes, when each was sent ('' = never), how long it took.
local function end_requests(payloads, names, sents, latencies)
  local marks, idle, times, k = marks_of(names), {}, {}, 0
  local records = LIMIT == 1 and call('HMGET', BUSY, unpack(names)) or {}
  for i = 1, #names do
    local payload = payloads[i]
    if byte(payload) == 111 then  -- 'o'
      local sent, record = sents[i], num(records[i] or 0)
      if record % SLOTS ~= 1 or marks[i] or sent == '' then
        rare().end_request(names[i], slot_of(payload), sent, latencies[i])
      else
        local at = (record - 1) / SLOTS
        if DELAY > 0 then at = math.max(at, math.ceil(math.max(sent + DELAY, now + FACTOR * latencies[i]))) end
        k = k + 1
        idle[k], times[k] = names[i], at
      end
    end
  end
  if k > 0 then rest(idle, times) end
  return marks
end
