-- Is this nearly a text we have? If not, it is one from now on. One step, so two workers that meet a mirror cannot
-- both pass. Answers {owner's URL, agreeing positions}, or false where the caller may pass.
-- KEYS[1] owner counter   KEYS[2..] one bucket a band (hash: rest of the band digest -> owner number)
-- ARGV[1] signature, one byte a permutation   ARGV[2] caller's URL   ARGV[3] agreeing positions needed
-- ARGV[4] prefix of the URL lists   ARGV[5] prefix of the signature strings   ARGV[6] owners a list or string
-- ARGV[7..] rest of the band digest, in the order of KEYS[2..]
local mine, caller, needed, chunk = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[6])
local width, bands = #mine, #KEYS - 1

local function agreement(theirs)
  local same = 0
  for start = 1, width, 64 do
    local stop = math.min(start + 63, width)
    local a, b = {string.byte(mine, start, stop)}, {string.byte(theirs, start, stop)}
    for i = 1, #a do
      if a[i] == b[i] then same = same + 1 end
    end
  end
  return same
end

local met, best, best_same, best_owner = {}, nil, 0, nil
for band = 1, bands do
  local number = tonumber(redis.call('HGET', KEYS[band + 1], ARGV[band + 6]))
  if number and not met[number] then
    met[number] = true
    local at = (number % chunk) * width
    local same = agreement(redis.call('GETRANGE', ARGV[5] .. math.floor(number / chunk), at, at + width - 1))
    local owner = redis.call('LINDEX', ARGV[4] .. math.floor(number / chunk), number % chunk)
    if owner == caller then
      if same == width then return false end -- redelivered: it passed before, so it passes again
    elseif same >= needed and (same > best_same or (same == best_same and number < best)) then
      best, best_same, best_owner = number, same, owner
    end
  end
end
if best then return {best_owner, best_same} end

local number = redis.call('INCR', KEYS[1]) - 1
redis.call('RPUSH', ARGV[4] .. math.floor(number / chunk), caller)
redis.call('SETRANGE', ARGV[5] .. math.floor(number / chunk), (number % chunk) * width, mine)
for band = 1, bands do
  redis.call('HSETNX', KEYS[band + 1], ARGV[band + 6], number)
end
return false
