// Generated regular expressions in the syntax that RE2 and ripgrep share.
import fc from 'fast-check'

export const letter = fc.constantFrom('a', 'b', 'c', 'A', 'x', '1', '2', '_', '-', ' ', '.', '(', '"')
const literal = letter.map((one) => (/[.()-]/.test(one) ? `\\${one}` : one))
const atom = fc.oneof(
  { weight: 4, arbitrary: literal },
  fc.constantFrom('.', '\\d', '\\w', '\\s', '\\D', '\\W', '\\S', '\\b', '\\B', '^', '$', '\\.', '\\x61', '\\t'),
  fc.constantFrom('[abc]', '[^abc]', '[a-c1-2]', '[^\\w]', '[\\d_]', '[[:alpha:]]', '[[:^digit:]]', '[-a]', '[.]'),
)
export const { pattern: patternArbitrary } = fc.letrec<{ pattern: string; part: string; group: string }>((tie) => ({
  pattern: fc.oneof(
    { weight: 4, arbitrary: fc.array(tie('part'), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')) },
    fc.tuple(tie('pattern'), tie('pattern')).map((sides) => sides.join('|')),
  ),
  part: fc
    .tuple(
      fc.oneof({ depthSize: 'small' }, { weight: 3, arbitrary: atom }, tie('group')),
      fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,2}', '{2,}', '*?', '+?', '??'),
    )
    // Repeating a zero-width match is not worth comparing.
    .map(([one, repeat]) => (/^(\^|\$|\\[bB])$/.test(one) ? one : one + repeat)),
  group: fc
    .tuple(fc.constantFrom('(', '(?:', '(?i:', '(?P<name>', '(?s:', '(?U:'), tie('pattern'))
    .map(([open, inner]) => `${open}${inner})`)
    // A group name may be used only once.
    .filter((group) => group.split('?P<').length <= 2),
}))
