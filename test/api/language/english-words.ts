/** Words that occur in English sentences and not in Indonesian ones. */
const englishWordPattern =
  /\b(the|is|are|was|were|be|been|not|no|must|cannot|with|this|that|your|you|of|an|and|or|to|there|it|its|at|for|from|has|have|only|again|wrong|send|use|wait|more|than|nothing|already|before|too|many|letters|digits|whole|number|allowed|required|empty|success|processed)\b/i;

/**
 * Returns the first English word of a text, or null. Ignores quoted text, paths, header names and
 * field names.
 */
export function englishWordIn(text: string): string | null {
  const ours = text.replace(/\{[^}]*\}|"[^"]*"|\/\S+|\b(GET|POST) \S+|[\w-]+_\w+|[xX]-\w+|x-[\w-]+/g, ' ');
  return englishWordPattern.exec(ours)?.[0] ?? null;
}
