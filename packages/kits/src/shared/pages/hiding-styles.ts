// Detects styles that hide text: inline styles, and simple rules (a tag, classes, an id) in the page's own style
// sheets. Ignores external style sheets, selectors with several elements, scripts, and background colors.

/** Maximum rules kept. */
const RULES = 500
/** Maximum characters of style sheets read. */
const SHEET_CHARS = 200_000

export interface HidingRule {
  readonly tag: string | undefined
  readonly id: string | undefined
  readonly classes: readonly string[]
}

export interface StyledElement {
  readonly tag: string
  readonly id: string
  readonly classes: ReadonlySet<string>
}

const HIDING: readonly RegExp[] = [
  /(?:^|;)display:none/,
  /(?:^|;)visibility:(?:hidden|collapse)/,
  /(?:^|;)opacity:0?(?:\.0+)?%?(?:;|!|$)|(?:^|;)opacity:0(?:;|!|$)/,
  /(?:^|;)font-size:0?(?:\.0+)?(?:px|em|rem|pt|%)?(?:;|!|$)/,
  /(?:^|;)(?:text-indent|left|top|right|margin-left):-\d{4,}/,
  /(?:^|;)clip:rect\((?:0(?:px)?|1px)[, ](?:0(?:px)?|1px)[, ](?:0(?:px)?|1px)[, ](?:0(?:px)?|1px)\)/,
  /(?:^|;)clip-path:inset\((?:50|100)%/,
  /(?:^|;)color:(?:transparent|rgba\(\d+,\d+,\d+,0\))/,
  /(?:^|;)transform:scale\(0\)/,
]

export function isHiding(declarations: string): boolean {
  const plain = declarations
    .slice(0, 2000)
    .toLowerCase()
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/\s*([:;,()!])\s*/g, '$1')
    .trim()
  if (HIDING.some((pattern) => pattern.test(plain))) return true
  // a box without size that clips its content
  return /(?:^|;)overflow:hidden/.test(plain) && /(?:^|;)(?:max-)?(?:height|width):[01](?:px)?(?:;|!|$)/.test(plain)
}

/** Skips rules for specific media (`@media print`). */
export function readHidingRules(sheets: readonly string[]): readonly HidingRule[] {
  const rules: HidingRule[] = []
  const text = sheets
    .join('\n')
    .slice(0, SHEET_CHARS)
    .replaceAll(/\/\*[^]*?\*\//g, '')
  let depth = 0
  let start = 0
  let selector = ''
  for (let at = 0; at < text.length && rules.length < RULES; at += 1) {
    const one = text[at]
    if (one === '{') {
      if (depth === 0) selector = text.slice(start, at).trim()
      depth += 1
      if (depth === 1) start = at + 1
    } else if (one === '}' && depth > 0) {
      depth -= 1
      if (depth > 0) continue
      if (!selector.startsWith('@') && isHiding(text.slice(start, at))) rules.push(...readSelectors(selector))
      start = at + 1
    } else if (one === ';' && depth === 0) start = at + 1 // such as @import
  }
  return rules
}

function readSelectors(selector: string): readonly HidingRule[] {
  return selector
    .split(',')
    .slice(0, 50)
    .flatMap((part) => {
      const [whole, tag, rest = ''] = /^([a-z][\w-]*)?((?:[.#][\w-]+)*)$/i.exec(part.trim()) ?? []
      if (whole === undefined || whole === '') return []
      const named = (mark: string): readonly string[] =>
        (rest.match(/[.#][\w-]+/g) ?? []).filter((name) => name.startsWith(mark)).map((name) => name.slice(1))
      return [{ tag: tag?.toLowerCase(), id: named('#')[0], classes: named('.') }]
    })
}

export function matchesRule({ tag, id, classes }: HidingRule, element: StyledElement): boolean {
  return (
    (tag === undefined || tag === element.tag) &&
    (id === undefined || id === element.id) &&
    classes.every((name) => element.classes.has(name))
  )
}
