// Finds the code in Markdown text: fenced, indented and inline code, verbatim markup, and quoted lines. Reads one
// character at a time without keeping the text, and reports whether the next character is in code. Follows CommonMark
// (0.31.2); when in doubt, text counts as code.
import { RawMarkup } from './raw-markup.ts'

interface Fence {
  readonly char: string
  readonly length: number
  /** A line indented less is not part of the fence's list item and cannot close the fence. */
  readonly indentMin: number
  readonly indentMax: number
  readonly line: number
}

/** A run of backticks. After a backslash, the first one opens nothing but still closes, since code has no escapes. */
interface Run {
  readonly opens: number
  readonly closes: number
}

/** The runs of a complete paragraph: the position of the last run of each length. */
export interface KnownRuns {
  readonly end: number
  readonly last: ReadonlyMap<number, number>
}

export class CodeTracker {
  /** Number of characters read. */
  position = 0
  /** Number of paragraph ends seen. */
  paragraph = 0
  line = 0
  #fence: Fence | undefined
  // State of the line
  #isPrefix = true
  /** Column of its first non-blank character, including a list marker. */
  #contentAt = -1
  #isBlank = true
  /** Its non-blank characters, while they may be a rule or a heading underline. */
  #rule = ''
  /** Whether it is a heading or an empty item. No paragraph continues after either. */
  #isOver = false
  #indent = 0
  #marker = ''
  #isIndented = false
  #isQuoted = false
  #isAfterBlank = true
  #wasIndented = false
  /** Column of the innermost list item's content; -1 outside of lists. */
  #listIndent = -1
  #isEmptyItem = false
  #isItemLine = false
  /** The backticks or tildes that start a line, and what follows them. */
  #lead: { readonly char: string; length: number; isBare: boolean; isBroken: boolean } | undefined
  // Inline state
  #run = 0
  #isRunEscaped = false
  #isEscaped = false
  /** Runs since the first unclosed one. */
  #open: Run[] = []
  /** Length of a run that will be closed later. */
  #sure = 0
  #known: KnownRuns | undefined
  #lastRuns: Map<number, number> | undefined
  #markup = new RawMarkup()

  /** Peeks at the next character and updates only what that character decides. */
  before(char: string): void {
    if (this.#run > 0 && char !== '`') this.#endRun()
    if (!this.#isPrefix || isBlank(char)) return
    if (this.#contentAt === -1) this.#contentAt = this.position
    this.#readPrefix(char)
  }

  /** Certain: everything here is plain text. */
  get isCode(): boolean {
    return this.#fence !== undefined || this.#isIndented || this.#isQuoted || this.#sure > 0 || this.#markup.isInside
  }

  /** An open backtick: the rest of the paragraph decides whether this is code. */
  get isDoubtful(): boolean {
    return this.#open.length > 0
  }

  /** Whether this is the start of a line outside of lists, with only white space before it. */
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

  /** Starts recording runs, for callers that later need to know how the paragraph continued. */
  noteRuns(): void {
    this.#lastRuns = new Map()
  }

  /** Returns the recorded runs at the end of the paragraph. */
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

  /** Resolves the open runs, now that the rest of the paragraph is known. */
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

  /** Returns a tracker for the new block that starts after a call of this many characters. */
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

  /** Handles the first non-blank character of a line, or the one after a list marker. */
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

  /** After a list marker, the line starts over. */
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

  /** Any item continues a list. Only a non-empty item that starts a list can interrupt a paragraph. */
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
    // Five or more columns count as one, and the rest starts indented code.
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
      // The info string of a backtick fence has no backticks; otherwise it is inline code.
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
      // An item may start with one empty line, but not two.
      if (this.#isEmptyItem && this.#isBlank) this.#listIndent = -1
      this.#isEmptyItem = false
    }
    if (/^ #{1,6}$/.test(this.#marker)) this.#isOver = true
    const isNear = this.#indent < 4 + Math.max(0, this.#listIndent)
    const isRule = isNear && /^(?:\*{3,}|_{3,}|-+|=+)$/.test(this.#rule)
    // A rule of stars and spaces looks like a list item.
    if (isRule && this.#rule.length >= 3) this.#listIndent = -1
    const isOver = this.#isBlank || this.#isOver || isRule || isFence
    if (isOver && !isFence) this.#endParagraph()
    this.#isAfterBlank = isOver && this.#fence === undefined
    this.#wasIndented = this.#isIndented || (this.#isBlank && this.#wasIndented)
    // A quoted paragraph continues without its markers.
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

  /** A non-paragraph line that starts left of the list's content ends the list. */
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

/** For each run, the next one of the same length. */
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
