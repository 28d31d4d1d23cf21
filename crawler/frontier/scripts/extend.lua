-- EXTEND: the worker is alive. ARGV 5 lease (ms)  6.. : (token, mark)*: '' = as before, h = in hand from now on, a = and
-- nothing else is, w = it waits and is not in hand, d = its outcome is safe with the worker: no suspect any more.
-- Returns per token 1, or 0 where the lease is lost.
local CHUNK = 1000
local answers, expiry, entries = {}, now + num(ARGV[5]), {}
local plainly, by_half = integer(expiry), string.format('%.1f', expiry - 0.5)
local delivered = string.format('%.2f', expiry - 0.25)
local function key_of(token)
  local payload = call('HGET', LEASE, token)
  local scope, at = scope_of(payload)
  local _, _, rest = rare().split(match(payload, '^[^\t]*', at))
  return scope .. '\t' .. rest
end
local function seen_alone(key)
  local s = rare().suspicion(key)
  if not s then return end
  if s.since == 0 then s.since = now end
  s.seen = now
  rare().suspected(key, s)
end
local function renew(token, mark, score)
  if mark == 'a' then seen_alone(key_of(token)) end
  if mark == 'd' and call('EXISTS', SUSPECTS) == 1 then call('HDEL', SUSPECTS, key_of(token)) end
  local part = num(score) % 1
  local in_hand, is_safe = mark == 'h' or mark == 'a' or mark == '' and part == 0.5, mark == 'd' or mark == '' and part == 0.75
  entries[#entries + 1] = in_hand and by_half or is_safe and delivered or plainly
  entries[#entries + 1] = token
end
for first = 6, #ARGV, 2 * CHUNK do
  local tokens = {}
  for i = first, math.min(first + 2 * CHUNK - 2, #ARGV), 2 do tokens[#tokens + 1] = ARGV[i] end
  entries = {}
  for k, score in ipairs(call('ZMSCORE', LEASES, unpack(tokens))) do
    answers[#answers + 1] = score and 1 or 0
    if score then renew(tokens[k], ARGV[first + 2 * k - 1], score) end
  end
  if #entries > 0 then call('ZADD', LEASES, 'XX', unpack(entries)) end
end
return answers
