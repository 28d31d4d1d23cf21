-- Free one claim: its owner no longer shows the text. What stands in the tables stays there and means nobody, as after a
-- withdrawal, until another page claims it.
-- KEYS[1] prefix, hash tag included   ARGV[1] owners a list   ARGV[2] owner's URL   ARGV[3] 10 bytes of the exact digest
-- Answers how many pages were turned away for the text; -1 where it is not this owner's.
local P, CHUNK, call, floor = KEYS[1], tonumber(ARGV[1]), redis.call, math.floor
local FULL = 50 -- documents a bucket, as in check.lua
local buckets = floor(tonumber(call('GET', P .. ':count') or 0) / FULL) + 1
local size = 1
while size * 2 <= buckets do size = size * 2 end
local hash = struct.unpack('<I4', ARGV[3])
local bucket = hash % (2 * size)
if bucket >= buckets then bucket = hash % size end
local number = tonumber(call('HGET', P .. ':e:' .. bucket, ARGV[3]))
if not number then return -1 end
local list, place = floor(number / CHUNK), number % CHUNK
if call('LINDEX', P .. ':u:' .. list, place) ~= ARGV[2] then return -1 end
call('LSET', P .. ':u:' .. list, place, '')
return call('BITFIELD', P .. ':d:' .. list, 'GET', 'u32', '#' .. place, 'SET', 'u32', '#' .. place, 0)[1]
