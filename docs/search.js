// How the site's search ranks pages. Sphinx takes pages that have all words, the best of them by one word of the title. Here
// pages come first whose title and phrases (docs/search_words.toml) have most words of the question; where no page has all
// words, those with some are shown; names of the code and histories come after prose. `docs/conf.py` fills in PHRASES.
const PHRASES = {};
const LAST = ["CHANGELOG", "CONTRIBUTING", "AGENTS", "docs/changes-0.3", "docs/reference", "docs/decisions/", "bench/"];

const stem = new Stemmer();
const stems = (text) =>
  splitQuery(text.toLowerCase().trim())
    .filter((word) => !stopwords.has(word))
    .map((word) => stem.stemWord(word));
const wordsOfPages = new Map(Object.entries(PHRASES).map(([page, phrases]) => [page, phrases.map(stems)]));
const wordsFound = new Map(); // by page, how many words of the question its text has

const isSame = (phrase, words) => phrase.length === words.length && phrase.every((word) => words.includes(word));
const isIn = (phrase, words) => phrase.length > 0 && phrase.every((word) => words.includes(word));

// What a page is worth for a question, from 0 to 100.
const worth = (page, words) => {
  const phrases = wordsOfPages.get(page) ?? [];
  const its = new Set(phrases.flat());
  const share = words.filter((word) => its.has(word)).length / words.length;
  const phrase = phrases.some((one) => isSame(one, words)) ? 1 : phrases.some((one) => isIn(one, words)) ? 0.6 : 0;
  const inText = Math.min(1, (wordsFound.get(page) ?? 0) / words.length);
  return 45 * share + 40 * phrase + 15 * inText;
};

var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([page, title, anchor, description, score, file, kind]) => {
    const words = stems(new URLSearchParams(window.location.search).get("q") ?? "");
    if (words.length === 0) return score;
    if (kind === "object") return score - 200;
    const late = LAST.some((place) => page === place || (place.endsWith("/") && page.startsWith(place))) ? 60 : 0;
    return worth(page, words) + score / 10 - late;
  },
};

const withAllWords = Search.performTermsSearch;
Search.performTermsSearch = (terms, excluded) => {
  wordsFound.clear();
  const some = new Map();
  for (const term of terms) {
    for (const result of withAllWords(new Set([term]), excluded)) {
      wordsFound.set(result[0], (wordsFound.get(result[0]) ?? 0) + 1);
      some.set(result[0], result);
    }
  }
  const all = withAllWords(terms, excluded);
  return all.length > 0 ? all : [...some.values()];
};
