-- Who owns this text? The first to ask does. Answers the owner's URL, or false where it is (now) the caller.
-- KEYS[1] bucket (hash: rest of the digest -> owner number)   KEYS[2] owner counter
-- ARGV[1] rest of the digest   ARGV[2] caller's URL   ARGV[3] prefix of the URL lists   ARGV[4] URLs a list
-- URL lists hold the owners in the order of their numbers; they carry the hash tag of KEYS and share its slot.
local chunk = tonumber(ARGV[4])
local number = tonumber(redis.call('HGET', KEYS[1], ARGV[1]))
if number then
  local owner = redis.call('LINDEX', ARGV[3] .. math.floor(number / chunk), number % chunk)
  return owner ~= ARGV[2] and owner
end
number = redis.call('INCR', KEYS[2]) - 1
redis.call('RPUSH', ARGV[3] .. math.floor(number / chunk), ARGV[2])
redis.call('HSET', KEYS[1], ARGV[1], number)
return false
