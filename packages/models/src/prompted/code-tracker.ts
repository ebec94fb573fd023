// Finds the code in a Markdown text: fenced, indented and inline code, markup that is shown as it is, quoted lines. It is told the text
// character by character, keeps none of it, and says of the place before the next character whether it is code. It reads
// CommonMark (0.31.2); in doubt more is code than less.
import { RawMarkup } from './raw-markup.ts'

interface Fence {
  readonly char: string
  readonly length: number
  /** A line that stands further left is none of its list item's, and cannot end it. */
  readonly indentMin: number
  readonly indentMax: number
  readonly line: number
}

/** Backticks in a row. Behind a backslash the first of them opens nothing, and still closes, since code knows no escapes. */
interface Run {
  readonly opens: number
  readonly closes: number
}

/** A paragraph up to its end: the position of the last run of each length. */
export interface KnownRuns {
  readonly end: number
  readonly last: ReadonlyMap<number, number>
}

export class CodeTracker {
  /** Characters so far. */
  position = 0
  /** Counts the ends of paragraphs. */
  paragraph = 0
  line = 0
  #fence: Fence | undefined
  // The line
  #isPrefix = true
  /** Column of its first character that is not blank, the mark of a list included. */
  #contentAt = -1
  #isBlank = true
  /** Its characters that are not blank, while they may be a rule or underline a heading. */
  #rule = ''
  /** It is a heading, or an item with nothing in it: no paragraph goes on behind it. */
  #isOver = false
  #indent = 0
  #marker = ''
  #isIndented = false
  #isQuoted = false
  #isAfterBlank = true
  #wasIndented = false
  /** Column of the content of the innermost list item; -1 outside of lists. */
  #listIndent = -1
  #isEmptyItem = false
  #isItemLine = false
  /** The backticks or tildes that begin a line, and what follows them. */
  #lead: { readonly char: string; length: number; isBare: boolean; isBroken: boolean } | undefined
  // Inline
  #run = 0
  #isRunEscaped = false
  #isEscaped = false
  /** Runs since the first that is not closed yet. */
  #open: Run[] = []
  /** Length of a run that is known to be closed further on. */
  #sure = 0
  #known: KnownRuns | undefined
  #lastRuns: Map<number, number> | undefined
  #markup = new RawMarkup()

  /** Looks at the character that comes next; it changes nothing of the place but what that character decides. */
  before(char: string): void {
    if (this.#run > 0 && char !== '`') this.#endRun()
    if (!this.#isPrefix || isBlank(char)) return
    if (this.#contentAt === -1) this.#contentAt = this.position
    this.#readPrefix(char)
  }

  /** Certain: nothing here is more than text. */
  get isCode(): boolean {
    return this.#fence !== undefined || this.#isIndented || this.#isQuoted || this.#sure > 0 || this.#markup.isInside
  }

  /** A backtick stands open: the rest of the paragraph decides whether this is code. */
  get isDoubtful(): boolean {
    return this.#open.length > 0
  }

  /** Whether a line begins here, outside of lists: nothing but white space stands before it. */
  get isLineStart(): boolean {
    return this.#contentAt === this.position && this.#indent <= 3
  }

  get fenceLine(): number | undefined {
    return this.#fence?.line
  }

  push(char: string): void {
    this.before(char)
    if (char === '\n') {
      this.#endLine()
      this.#markup.push(char)
    } else if (this.#isPrefix && isBlank(char) && this.#marker === '')
      this.#indent += char === '\t' ? 4 - (this.#indent % 4) : 1
    else this.#readChar(char)
    this.position += 1
  }

  /** From here on the runs are noted, for who has to know later how the paragraph went on. */
  noteRuns(): void {
    this.#lastRuns = new Map()
  }

  /** Returns the notes at the end of the paragraph. */
  takeKnown(): KnownRuns {
    if (this.#run > 0) this.#endRun()
    return { end: this.position, last: this.#lastRuns ?? new Map() }
  }

  copy(): CodeTracker {
    const copy = new CodeTracker()
    Object.assign(copy, { position: this.position, paragraph: this.paragraph, line: this.line })
    copy.#fence = this.#fence
    copy.#isPrefix = this.#isPrefix
    copy.#contentAt = this.#contentAt
    copy.#isBlank = this.#isBlank
    copy.#indent = this.#indent
    copy.#marker = this.#marker
    copy.#isIndented = this.#isIndented
    copy.#isQuoted = this.#isQuoted
    copy.#isAfterBlank = this.#isAfterBlank
    copy.#wasIndented = this.#wasIndented
    copy.#listIndent = this.#listIndent
    copy.#isEmptyItem = this.#isEmptyItem
    copy.#isItemLine = this.#isItemLine
    copy.#rule = this.#rule
    copy.#isOver = this.#isOver
    copy.#lead = this.#lead && { ...this.#lead }
    copy.#open = [...this.#open]
    copy.#markup = this.#markup.copy()
    return copy
  }

  /** The paragraph is known up to its end: the runs that stand open are decided. */
  decide(known: KnownRuns): void {
    const open = this.#open
    this.#open = []
    this.#known = known
    const closing = listClosing(open)
    for (let index = 0; index < open.length; index++) {
      const length = open[index]?.opens ?? 0
      const closed = closing[index]
      if (closed !== undefined) index = closed
      else if ((known.last.get(length) ?? -1) >= this.position) {
        this.#sure = length
        return
      }
    }
  }

  /** Behind a call of so many characters a new block begins. */
  afterCall(chars: number): CodeTracker {
    const next = new CodeTracker()
    next.position = this.position + chars
    next.paragraph = this.paragraph + 1
    next.line = this.line + 1
    if (this.#known && next.position < this.#known.end) next.#known = this.#known
    return next
  }

  #readChar(char: string): void {
    if (!isBlank(char)) this.#isBlank = false
    if (!isBlank(char)) this.#rule = this.#rule.length < 8 ? this.#rule + char : this.#rule
    if (this.#marker !== '') this.#marker += char
    this.#readLead(char)
    if (this.#fence || this.#isIndented) return
    if (char === '`') {
      if (this.#run === 0) this.#isRunEscaped = this.#isEscaped
      this.#run += 1
    }
    this.#isEscaped = char === '\\' && !this.#isEscaped && this.#sure === 0
    if (this.#sure === 0) this.#markup.push(char)
  }

  /** The first character of a line that is not blank, or that a list's mark is followed by. */
  #readPrefix(char: string): void {
    if (this.#marker !== '') {
      this.#readMarker(char)
      return
    }
    if (this.#isAfterBlank && (this.#indent >= 4 || !/[-*+\d]/.test(char))) this.#leaveList()
    const base = Math.max(0, this.#listIndent)
    const isFar = this.#indent >= 4 + base
    if (this.#fence === undefined && isFar && (this.#isAfterBlank || this.#wasIndented)) this.#isIndented = true
    else if (this.#fence === undefined && !isFar && char === '>') {
      this.#endParagraph()
      this.#leaveList()
      this.#isQuoted = true
    } else if (this.#fence === undefined && !isFar && /[-*+\d#]/.test(char)) {
      this.#marker = ' '
      this.#isBlank = false
      return
    } else if ((char === '`' || char === '~') && (this.#fence !== undefined || !isFar))
      this.#lead = { char, length: 0, isBare: true, isBroken: false }
    this.#isPrefix = false
  }

  /** Behind the mark of a list item the line begins once more. */
  #readMarker(char: string): void {
    const marker = this.#marker
    if (/^ #{1,6}[ \t]+$/.test(marker)) {
      this.#endParagraph()
      this.#isOver = true
      this.#leaveList()
    } else if (this.#isItem(marker, false)) {
      this.#openItem(marker, false)
      this.#marker = ''
      if (this.#isIndented) this.#isPrefix = false
      else this.#readPrefix(char)
      return
    } else if (marker === ' ' || /^ (?:\d{0,9}[.)]?|#{1,6})$/.test(marker + char)) return
    this.#marker = ''
    this.#isPrefix = false
  }

  /** A list goes on with any item; a paragraph is ended only by one that begins a list, and has something in it. */
  #isItem(marker: string, isEmpty: boolean): boolean {
    const [, number] = /^ (?:[-*+]|(\d{1,9})[.)])[ \t]*$/.exec(marker) ?? []
    if (!/^ (?:[-*+]|\d{1,9}[.)])[ \t]*$/.test(marker) || (!isEmpty && !/[ \t]$/.test(marker))) return false
    const isFree = this.#isAfterBlank || this.#wasIndented || this.#isItemLine
    if (isFree || this.#indent < this.#listIndent) return true
    return !isEmpty && (number === undefined || Number(number) === 1)
  }

  #openItem(marker: string, isEmpty: boolean): void {
    const [, mark = '', blanks = ''] = /^ ([-*+]|\d{1,9}[.)])([ \t]*)$/.exec(marker) ?? []
    const from = this.#indent + mark.length
    let column = from
    for (const blank of blanks) column += blank === '\t' ? 4 - (column % 4) : 1
    const width = column - from
    this.#endParagraph()
    // Five columns and more are one, and the rest begins indented code.
    this.#isIndented = width > 4
    this.#indent = from + (width > 4 || isEmpty ? 1 : width)
    this.#listIndent = this.#indent
    this.#isAfterBlank = false
    this.#isItemLine = true
    this.#wasIndented = false
    this.#isQuoted = false
  }

  #readLead(char: string): void {
    const lead = this.#lead
    if (!lead) return
    if (char === lead.char && lead.isBare) lead.length += 1
    else {
      lead.isBare = false
      // The language behind backticks has none, else they are inline code.
      if (!isBlank(char) && lead.char === '`' && char === '`') lead.isBroken = true
      if (!isBlank(char) && this.#fence) lead.isBroken = true
    }
  }

  #endLine(): void {
    const lead = this.#lead
    const isFence = lead !== undefined && lead.length >= 3 && !lead.isBroken
    if (isFence) this.#readFence(lead)
    if (this.#fence === undefined && this.#isItem(this.#marker, true)) {
      this.#openItem(this.#marker, true)
      this.#isOver = true
      this.#isEmptyItem = true
    } else {
      // An item may begin with one empty line, and not with two.
      if (this.#isEmptyItem && this.#isBlank) this.#listIndent = -1
      this.#isEmptyItem = false
    }
    if (/^ #{1,6}$/.test(this.#marker)) this.#isOver = true
    const isNear = this.#indent < 4 + Math.max(0, this.#listIndent)
    const isRule = isNear && /^(?:\*{3,}|_{3,}|-+|=+)$/.test(this.#rule)
    // One of stars and blanks looks like an item.
    if (isRule && this.#rule.length >= 3) this.#listIndent = -1
    const isOver = this.#isBlank || this.#isOver || isRule || isFence
    if (isOver && !isFence) this.#endParagraph()
    this.#isAfterBlank = isOver && this.#fence === undefined
    this.#wasIndented = this.#isIndented || (this.#isBlank && this.#wasIndented)
    // A paragraph of a quote goes on without its marks.
    this.#isQuoted = this.#isQuoted && !this.#isBlank && !isFence
    this.line += 1
    this.#lead = undefined
    this.#marker = ''
    this.#isPrefix = true
    this.#contentAt = -1
    this.#isItemLine = false
    this.#isBlank = true
    this.#rule = ''
    this.#isOver = false
    this.#indent = 0
    this.#isIndented = false
    this.#isEscaped = false
  }

  #readFence({ char, length }: { readonly char: string; readonly length: number }): void {
    const fence = this.#fence
    if (fence && this.#indent >= fence.indentMin) {
      if (char === fence.char && length >= fence.length && this.#indent <= fence.indentMax) this.#fence = undefined
      return
    }
    this.#leaveList()
    const base = Math.max(0, this.#listIndent)
    this.#fence = { char, length, indentMin: base, indentMax: base + 3, line: this.line }
    this.#endParagraph()
  }

  /** A line that is not a paragraph and starts left of the list's content ends the list. */
  #leaveList(): void {
    if (this.#indent < this.#listIndent) this.#listIndent = -1
  }

  #endParagraph(): void {
    this.paragraph += 1
    this.#open = []
    this.#sure = 0
    this.#run = 0
    this.#markup.endParagraph()
  }

  #endRun(): void {
    const closes = this.#run
    const opens = this.#isRunEscaped ? closes - 1 : closes
    const at = this.position - closes
    this.#run = 0
    if (this.#fence || this.#isIndented) return
    this.#lastRuns?.set(closes, at)
    if (this.#sure > 0) this.#sure = this.#sure === closes ? 0 : this.#sure
    else if (this.#known && this.position <= this.#known.end) {
      if ((this.#known.last.get(opens) ?? -1) > at) this.#sure = opens
    } else if (this.#open[0]?.opens === closes) this.#open = []
    else if (opens > 0 || this.#open.length > 0) this.#open.push({ opens, closes })
  }
}

/** For each run the next one of its length. */
function listClosing(runs: readonly Run[]): readonly (number | undefined)[] {
  const next = new Map<number, number>()
  const closing: (number | undefined)[] = []
  for (let index = runs.length - 1; index >= 0; index--) {
    const { opens = 0, closes = 0 } = runs[index] ?? {}
    closing[index] = next.get(opens)
    next.set(closes, index)
  }
  return closing
}

export function isBlank(char: string): boolean {
  return char === ' ' || char === '\t' || char === '\n' || char === '\r'
}
