// The words of a run of Chinese characters, for the theme's search. The index was cut into words
// while the site was built; what a reader types is cut here, along the words that the index knows.
// Chosen are the cuts that leave the fewest characters over and then have the fewest words, a
// single character counting as more than half another word. Words that only ask or join are
// dropped where others remain. A single character finds itself, and not all words that begin so.
(run, index) => {
  const LONGEST = 8;
  const ONE = 1.5;
  const UNKNOWN = 4;
  const ASKING =
    "的 了 吗 呢 是 在 有 没 没有 为什么 怎么 怎样 如何 什么 多 多少 多大 太 很 能 会 要 和 与 但 就 都 也 还 " +
    "把 被 让 一个 两个 哪个 哪些 这个 那个";
  const cost = [0];
  const from = [0];
  for (let end = 1; end <= run.length; end++) {
    cost[end] = Infinity;
    for (let start = Math.max(0, end - LONGEST); start < end; start++) {
      const single = end - start === 1;
      const known = run.slice(start, end) in index;
      const more = known ? (single ? ONE : 1) : single ? UNKNOWN : Infinity;
      if (cost[start] + more < cost[end]) {
        cost[end] = cost[start] + more;
        from[end] = start;
      }
    }
  }
  const words = [];
  for (let end = run.length; end > 0; end = from[end]) {
    const word = run.slice(from[end], end);
    if (word in index) words.unshift(word);
  }
  const asking = new Set(ASKING.split(" "));
  const telling = words.filter((word) => !asking.has(word));
  const chosen = telling.length ? telling : words;
  return chosen.map((word) => (word.length === 1 ? `${word}^1` : word)).join(" ") || run;
}
