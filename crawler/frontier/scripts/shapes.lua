-- What came of the requests to a scope, by the shape of their URLs (crawler.urls.shape); stands in front of put, lease,
-- ack and requeue. w:<scope> HASH: shape -> how many requests, kept, too short, duplicates, others; dry stretches that
-- ended and the longest of them, both at most 255; how many in a row brought nothing; URLs
-- parked; tokens kept; tokens and pages kept behind its links; value when its queue was last ordered; an example. '.' ->
-- the whole scope: requests, how many in a row brought nothing, tokens; requests and tokens by depth; requests and tokens
-- by the place of their link.
local SHAPES, OTHER, WHOLE, DEPTHS = 64, '*', '.', 6  -- a scope has at most so many rows; shapes after them share one, and
-- of those that were never asked only half as many have their own: so early requests need not count the rows
local ROW, SUMS = '>I4I4I4I4I4I1I1I2I4ddI4i2', '>I4I4dI4fI4fI4fI4fI4fI4fI4fI4fI4f'
local FIRST, SURE_OF_SCOPE, SURE_OF_DEPTH, SURE_OF_PLACE, SURE_OF_SHAPE = 400, 4, 4, 4, 2  -- prior: tokens; requests it is worth
local PATIENCE = 8  -- fruitless requests in a row that halve what a shape promises
local ENDED = 13  -- dry stretches that have to have ended before they say how long the next may be
local TRIES = 3  -- requests to a shape by which exploration is through with it
local HUB = 0.5  -- a page that leads to a kept one is worth this share of it
local LINKS, OCTAVE, MARK, RUN, LEVEL = -2048, 64, 16, 16, 8  -- priority = LINKS + OCTAVE × log2(1 + tokens) - MARK × mark - …

local function table_of(scope) return P .. 'w:' .. scope end
local function row_of(text)
  if not text then
    return {fetched = 0, kept = 0, short = 0, duplicate = 0, other = 0, ended = 0, longest = 0, streak = 0, parked = 0,
            tokens = 0, led = 0, led_n = 0, example = '', new = true}
  end
  local fetched, kept, short, duplicate, other, ended, longest, streak, parked, tokens, led, led_n, class, at =
    struct.unpack(ROW, text)
  return {fetched = fetched, kept = kept, short = short, duplicate = duplicate, other = other, ended = ended,
          longest = longest, streak = streak, parked = parked, tokens = tokens, led = led, led_n = led_n, class = class,
          example = sub(text, at)}
end
local function packed(r)
  return struct.pack(ROW, r.fetched, r.kept, r.short, r.duplicate, r.other, r.ended, r.longest, r.streak, r.parked, r.tokens,
                     r.led, r.led_n, r.class or 0) .. r.example
end
-- A page of a shape, or one that it led to, is new; or none was.
local function brought_something(r)
  if r.streak == 0 then return end
  r.ended, r.longest, r.streak = math.min(r.ended + 1, 255), math.max(r.longest, math.min(r.streak, 255)), 0
end
local function brought_nothing(r) r.streak = math.min(r.streak + 1, 65535) end
-- How many fruitless pages in a row park a shape. One that only leads, and is reached through itself alone (outcomes.lua),
-- has shown how long its dry stretches are: it is given up at twice the longest, but not before half the bound.
-- docs/frontier.md says why.
local function limit_of(r, bound)
  if r.kept > 0 or r.ended < ENDED or r.longest == 255 then return bound end
  return math.min(bound, math.max(bound / 2, 2 * r.longest))
end
local function sums_of(text)
  if not text then return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0} end
  return {struct.unpack(SUMS, text)}
end
-- Where the sums of a link's place stand: in the main part of its page, beside it, or below it (marks.py); nil: unknown.
local function place_of_link(mark)
  mark = num(mark)
  return mark and (mark < 2 and 16 or mark < 5 and 18 or 20)
end
-- What a request to a page at this depth brings, as far as the scope is known: its mean, drawn towards the prior; then
-- the mean of the depth, drawn towards the scope's; times what links from this place bring, compared with all.
local function usual_worth(sums, depth, mark)
  local scope = (SURE_OF_SCOPE * FIRST + sums[3]) / (SURE_OF_SCOPE + sums[1])
  local at = 4 + 2 * math.min(depth, DEPTHS - 1)
  local own, place = (SURE_OF_DEPTH * scope + sums[at + 1]) / (SURE_OF_DEPTH + sums[at]), place_of_link(mark)
  if not place then return own end
  return own * (SURE_OF_PLACE + sums[place + 1] / scope) / (SURE_OF_PLACE + sums[place])
end
-- What is expected of a shape that was never asked. Where scores are told (focus.lua), at least what a text with one has
-- brought: sections must not hide behind the lists that lead to them.
local function promise(sums, scores, depth, mark)
  local usual = usual_worth(sums, depth, mark)
  return scores and math.max(usual, (FIRST + sums[3]) / (1 + scores.n)) or usual
end
-- The posterior mean of what a request to the shape brings, less what it lost by bringing nothing lately.
local function worth(row, usual)
  if row.fetched + row.led_n == 0 then return usual end
  local own = (SURE_OF_SHAPE * usual + row.tokens) / (SURE_OF_SHAPE + row.fetched)
  if row.led_n > 0 then own = own + HUB * row.led / row.led_n * math.min(1, row.led_n / math.max(1, row.fetched)) end
  return own * PATIENCE / (PATIENCE + row.streak)
end
local function class_of(tokens) return math.floor(OCTAVE * math.log(1 + tokens) / 0.6931471805599453 + 0.5) end
