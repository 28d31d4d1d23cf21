-- Requests that are over, for ack and finish. One request at a time to a scope with nothing to say is the usual case: it
-- goes without a table for the scope, in a third of the time.

-- Which of keys[a] to keys[b] exist, of whom n do: found[i] = true. Mostly all of them, so halves are asked about.
local function which_exist(keys, a, b, n, found)
  if n == 0 then return end
  if n == b - a + 1 then
    for i = a, b do found[i] = true end
    return
  end
  local middle = a + math.floor((b - a) / 2)
  local left = call('EXISTS', unpack(keys, a, middle))
  which_exist(keys, a, middle, left, found)
  which_exist(keys, middle + 1, b, n - left, found)
end
-- Scopes whose only request is over, when (sent + delay or later) each may be asked again.
local function rest(names, times, n)
  local keys, found, ready, rested, k, l, last, shown = {}, {}, {}, {}, 0, 0, now, ARGV[1]
  for i = 1, n do keys[i] = QUEUE .. names[i] end
  which_exist(keys, 1, n, call('EXISTS', unpack(keys)), found)
  for i = 1, n do
    local at = times[i]
    if at ~= last then last, shown = at, integer(at) end  -- mostly the same as before
    if found[i] then
      ready[k + 1], ready[k + 2], k = at > now and shown or ARGV[1], names[i], k + 2
    elseif at > now then
      rested[l + 1], rested[l + 2], l = shown, names[i], l + 2
    end
  end
  call('HDEL', BUSY, unpack(names))
  if k > 0 then call('ZADD', READY, unpack(ready)) end
  if l > 0 then call('ZADD', NEXT, unpack(rested)) end
end
-- When a request that was sent then and took so long (ms) lets its scope be asked again.
local function over(sent, latency)
  return math.ceil(math.max(sent + DELAY, now + FACTOR * latency))
end
-- The requests of these leases are over. wires: first bytes of the leases; where: places in ARGV before "sent ms or '' =
-- never, latency ms". Returns which of the scopes have something to say.
local function end_requests(payloads, wires, names, where)
  local marks, idle, times, k, sent, latency, at = marks_of(names), {}, {}, 0, nil, nil, nil
  local records = LIMIT == 1 and call('HMGET', BUSY, unpack(names)) or {}
  for i = 1, #names do
    if wires[i] == 111 then  -- 'o'
      local place, record = where[i], num(records[i] or 0)
      if record % SLOTS ~= 1 or marks[i] or ARGV[place + 1] == '' then
        rare().end_request(names[i], slot_of(payloads[i]), ARGV[place + 1], ARGV[place + 2])
      else
        local earliest = (record - 1) / SLOTS
        if DELAY > 0 then
          if ARGV[place + 1] ~= sent or ARGV[place + 2] ~= latency then  -- mostly the same as before
            sent, latency = ARGV[place + 1], ARGV[place + 2]
            at = over(sent, latency)
          end
          if at > earliest then earliest = at end
        end
        k = k + 1
        idle[k], times[k] = names[i], earliest
      end
    end
  end
  if k > 0 then rest(idle, times, k) end
  return marks
end
