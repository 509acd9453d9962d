// lexicon.mjs - the words of the invented world by subject, and a generator of new words.

export const SUBJECTS = {
  weather: "storm rain gale thunder drizzle flood cloud frost breeze hail forecast umbrella",
  kitchen: "tea coffee bread butter honey soup pepper kettle oven recipe supper pancake",
  harbor: "harbor ferry anchor tide sailor lighthouse dock cargo captain deck lantern gull",
  market: "market price shares broker profit index bond trader dividend merger rate yield",
  football: "match striker goal referee league penalty keeper coach derby stadium cup winger",
  hospital: "nurse doctor ward patient vaccine surgery clinic symptom dose fever therapy scan",
  court: "judge jury verdict lawyer trial appeal witness statute hearing bail plea ruling",
  theater: "stage actor curtain drama rehearsal comedy script audience ballet opera tenor role",
  railway: "train station platform signal carriage ticket rail timetable conductor tunnel depot",
  garden: "rose tulip hedge orchard soil compost seedling pruning meadow ivy fern lawn",
  computing: "server kernel compiler cache thread packet cluster latency token firmware patch",
  space: "orbit rocket lunar probe crater telescope comet payload galaxy launch module crew",
  parliament: "minister vote ballot coalition senate bill motion cabinet treaty budget party",
  music: "guitar chorus album drummer melody concert festival vinyl encore lyric tempo violin",
};

export const COMMON =
  "the of and to in a is that for it was on with as his they at be this from have or had by";

// Words that change their meaning, from one subject to another.
export const MOVERS = [
  ["cloud", "weather", "computing"],
  ["patch", "garden", "computing"],
  ["bill", "market", "parliament"],
  ["deck", "harbor", "computing"],
  ["module", "computing", "space"],
  ["scan", "computing", "hospital"],
];

const HEADS = "ba ce do fi gra hu jo ka li mo na pe qua ri so tre va wi ya zu".split(" ");
const TAILS = "l n r s t x nd rk lm st ph ck".split(" ");

/** Returns a new word made of syllables. */
export function coin(random) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  let word = "";
  for (let n = 2 + Math.floor(random() * 2); n > 0; n--) word += pick(HEADS);
  return word + pick(TAILS);
}

/** Untrusted words. None of them may have any effect on the page. */
export const HOSTILE = [
  "<script>window.pwned=1</script>",
  "<img src=x onerror=window.pwned=1>",
  "\"><svg/onload=window.pwned=1>",
  "javascript:window.pwned=1",
  "\u202emoc.elgoog\u202d",
  "\u2067right\u2066left",
  "\u001b[31mred\u0007\u0000",
  "line\nbreak\ttab",
  "a/b?c=d#e%20f&g",
  "__proto__",
  "constructor",
  "z\u0335\u0321\u0322a\u0334\u0321\u0322l\u0337\u0321go\u0338\u0321",
  "\u{1f469}\u200d\u{1f680}\u{1f30a}",
  "\ud800half",
  "long".repeat(1000),
  "&lt;b&gt;bold&lt;/b&gt;",
];
