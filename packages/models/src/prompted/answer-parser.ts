// Separates text from calls in a streaming answer. Marks never reach the text, however the pieces are cut; code is
// text; each character is examined a bounded number of times. Independent of the call format.
import type { BodyEnd } from './body-end.ts'
import { createBodyEnd, withoutPart } from './body-end.ts'
import { CodeTracker, isBlank } from './code-tracker.ts'
import type { Body, Head, Mark, OfferedTools, PromptedFormat, ReadCall } from './format.ts'
import { anyBegins, START_CHARS } from './format.ts'

export interface ParsedCall extends ReadCall {
  readonly type: 'call'
  /** Set if the answer ends inside it. */
  readonly isCut?: true
}

export type Parsed =
  | { readonly type: 'text' | 'thought'; readonly text: string }
  /** Everything before it was a thought without an opening mark, so its calls are void. */
  | { readonly type: 'thought-ended' }
  | ParsedCall

export interface AnswerParserOptions {
  readonly format: PromptedFormat
  readonly tools: OfferedTools
  /** Whether the answer is complete, so that small mistakes in calls may be repaired. */
  readonly mayRepair: boolean
  /** Called with each item once it is certain. Drops white space around calls and nothing else. */
  readonly onParsed: (parsed: Parsed) => void
}

/** Maximum characters of one call; a longer one is unreadable. */
const CALL_CHARS = 1024 * 1024
const HEAD_CHARS = 256

/** The state that the next character applies to. */
type Mode =
  | { readonly type: 'text' }
  /** A mark was read, but not enough after it to know whether it starts a call. */
  | { readonly type: 'start'; readonly mark: Mark; raw: string; start: string; hasSpace: boolean; isInside: boolean }
  | { readonly type: 'head'; readonly head: Head; readonly open: string; raw: string }
  | {
      readonly type: 'body'
      readonly mark: Mark
      readonly body: Body
      readonly end: BodyEnd
      raw: string
      length: number
    }
  /** A thought within the text stays text; a thought that a head began is reported as a thought. */
  | { readonly type: 'thought'; readonly end: ThoughtEnd; held: string | undefined }
  | { readonly type: 'head-thought'; readonly head: Head; tail: string }

type ModeOf<Type extends Mode['type']> = Extract<Mode, { readonly type: Type }>

/** A mark was found after an open backtick: the rest of the paragraph decides whether it is code. */
interface Doubt {
  readonly before: CodeTracker
  readonly paragraph: number
  readonly line: number
  held: string
}

const TEXT: Mode = { type: 'text' }

export class AnswerParser {
  /** Number of characters examined, including those examined again. */
  looks = 0
  readonly #init: AnswerParserOptions
  readonly #finder: MarkFinder
  #tracker = new CodeTracker()
  #mode: Mode = TEXT
  #doubt: Doubt | undefined
  /** Possible start of a mark. */
  #tail = ''
  /** White space that is dropped around calls. */
  #gap = ''
  #out = ''
  #outType: 'text' | 'thought' = 'text'
  #isStart = true
  #isAfterCall = false
  /** Whether a thought was ended by another head, which then does not begin a call. */
  #isInThought = false
  /** False once a call or a thought did not end: after that, the first closing mark counts. */
  #seesTexts = true
  #seesThoughts = true

  constructor(init: AnswerParserOptions) {
    this.#init = init
    this.#finder = createMarkFinder(init.format)
  }

  push(piece: string): void {
    this.#feed(piece)
    this.#tell()
  }

  /** Call after the last piece. `isWhole`: nothing was cut off. */
  end(isWhole: boolean): void {
    while (!this.#finish(isWhole));
    this.#tell()
  }

  #feed(text: string): void {
    for (let index = 0; index < text.length; index++) {
      const char = text[index] ?? ''
      this.looks += 1
      const mode = this.#mode
      if (this.#doubt) this.#feedDoubt(this.#doubt, char)
      else if (mode.type === 'text') this.#feedText(char)
      else if (mode.type === 'body') this.#feedBody(mode, char)
      else if (mode.type === 'start') this.#feedStart(mode, char)
      else if (mode.type === 'head') this.#feedHead(mode, char)
      else if (mode.type === 'thought') this.#feedThought(mode, char)
      else this.#feedHeadThought(mode, char)
    }
  }

  #feedText(char: string): void {
    this.#tail += char
    while (this.#tail !== '') {
      const tail = this.#tail
      const first = tail[0] ?? ''
      this.#tracker.before(first)
      if (this.#finder.mayBegin(first) && !this.#tracker.isCode) {
        const { isLineStart } = this.#tracker
        const found = this.#finder.find(tail, { isLineStart, isAfterCall: this.#isAfterCall })
        if (found.type === 'maybe') return
        if (found.type !== 'none') {
          this.#tail = ''
          this.#open(found, tail)
          return
        }
      }
      this.#tail = ''
      if (this.#isStart && this.#openWhole(first)) this.#feed(tail)
      else {
        this.#takeText(first)
        this.#tail = tail.slice(1)
      }
    }
  }

  #open(found: Exclude<Found, { readonly type: 'none' | 'maybe' }>, tail: string): void {
    if (found.type === 'stray') {
      this.#isInThought = false
      return
    }
    if (found.type === 'thought-end') {
      this.#tell()
      this.#init.onParsed({ type: 'thought-ended' })
      this.#takeAll(tail)
      return
    }
    if (this.#tracker.isDoubtful && !(found.type === 'mark' && found.mark.isFence)) {
      const { paragraph, line } = this.#tracker
      this.#doubt = { before: this.#tracker.copy(), paragraph, line, held: tail }
      this.#tracker.noteRuns()
      for (const char of tail.split('')) this.#tracker.push(char)
      return
    }
    if (found.type === 'mark') this.#mode = createStart(found.mark)
    else if (found.type === 'head') this.#mode = { type: 'head', head: found.head, open: tail, raw: '' }
    else {
      this.#takeAll(tail)
      // In the middle of an answer it may be a mention of the tag, which has no end.
      const mode: Mode = { type: 'thought', end: new ThoughtEnd(found.kind), held: this.#isStart ? undefined : '' }
      if (this.#seesThoughts) this.#mode = mode
    }
  }

  /** Whether the whole answer may be calls. If so, it is held back until that is certain. */
  #openWhole(first: string): boolean {
    const { whole } = this.#init.format
    if (isBlank(first)) return false
    this.#isStart = false
    if (!whole || whole.begins(first, this.#init.tools) === 'no') return false
    this.#mode = createStart({ open: '', close: [], bodies: [whole], mayBeText: true, endsWithAnswer: true })
    return true
  }

  #feedDoubt(doubt: Doubt, char: string): void {
    this.#tracker.before(char)
    if (this.#tracker.paragraph === doubt.paragraph && !this.#tracker.isDoubtful) {
      // The backtick is closed, so all of it was code.
      this.#doubt = undefined
      this.#say('text', doubt.held)
      this.#feed(char)
      return
    }
    doubt.held += char
    this.#tracker.push(char)
    if (this.#tracker.paragraph !== doubt.paragraph) this.#decide(doubt)
  }

  /** Runs at the end of the paragraph: an unclosed backtick starts no code, so the text is read again. */
  #decide({ before, line, held }: Doubt): void {
    this.#doubt = undefined
    if (this.#tracker.fenceLine === line) {
      this.#say('text', held)
      return
    }
    const known = this.#tracker.takeKnown()
    this.#tracker = before
    before.decide(known)
    this.#feed(held)
  }

  #feedStart(mode: ModeOf<'start'>, char: string): void {
    mode.raw += char
    if (isBlank(char)) {
      mode.isInside ||= char === '\n'
      mode.hasSpace = true
      return
    }
    mode.start += (mode.hasSpace && mode.start !== '' ? ' ' : '') + char
    mode.hasSpace = false
    const { bodies } = mode.mark
    const begins = bodies.map((body) => body.begins(mode.start, this.#init.tools))
    const body = bodies[begins.indexOf('yes')]
    if (!mode.isInside || (!body && (anyBegins(begins) === 'no' || mode.start.length >= START_CHARS))) this.#release()
    else if (body) this.#openBody(mode.mark, body, mode.raw)
  }

  #openBody(mark: Mark, body: Body, raw: string): void {
    const end = createBodyEnd(body, mark.close, this.#seesTexts)
    this.#mode = { type: 'body', mark, body, end, raw: '', length: 0 }
    this.#feed(raw)
  }

  /** Turns a false call back into text. */
  #release(): void {
    const mode = this.#mode
    this.#mode = TEXT
    if (mode.type !== 'start' && mode.type !== 'head') return
    this.#isStart = false
    this.#takeAll(mode.type === 'start' ? mode.mark.open : mode.open)
    this.#feed(mode.raw)
  }

  #feedHead(mode: ModeOf<'head'>, char: string): void {
    mode.raw += char
    const { head, raw } = mode
    if (char === '\n' || raw.length > HEAD_CHARS || raw.endsWith(mode.open)) this.#release()
    else if (raw.endsWith(head.until)) {
      const read = head.read(raw.slice(0, -head.until.length))
      if (!read) this.#release()
      else if (read.type === 'text') this.#mode = TEXT
      // A thought holds no calls; it ends with its message.
      else if (read.type === 'thought' || this.#isInThought) this.#mode = { type: 'head-thought', head, tail: '' }
      else {
        const close = [...head.close, ...head.open]
        this.#openBody({ open: mode.open + raw, close, bodies: [read.body], endsWithAnswer: true }, read.body, '')
      }
      if (read && read.type === 'text') this.#isInThought = false
    }
  }

  #feedBody(mode: ModeOf<'body'>, char: string): void {
    mode.length += 1
    if (mode.length <= CALL_CHARS) mode.raw += char
    const mark = mode.end.push(char)
    if (mark === undefined) return
    this.#closeBody(mode, mode.raw, mark)
    if (this.#init.format.head?.open.includes(mark)) this.#feed(mark)
  }

  /** @param raw the body including its closing mark */
  #closeBody(mode: ModeOf<'body'>, raw: string, closing: string): void {
    const inside = closing === '' ? raw : raw.slice(0, -closing.length)
    const reading = { tools: this.#init.tools, mayRepair: this.#init.mayRepair, isClosed: true }
    const isLong = mode.length > CALL_CHARS
    const calls = isLong ? [tooLong()] : mode.body.read(inside, reading)
    this.#mode = TEXT
    if (calls) this.#tellCalls(calls, mode.length)
    else if (mode.mark.mayBeText) this.#takeAll(mode.mark.open + raw)
    else this.#tellCalls([{ name: '', arguments: '{}', problem: 'it is not a call of the format' }], mode.length)
  }

  #feedThought(mode: ModeOf<'thought'>, char: string): void {
    const held = mode.held === undefined ? char : (mode.held += char)
    const isEnd = mode.end.push(char)
    this.#mode = isEnd ? TEXT : mode
    if (isEnd || mode.held === undefined) this.#say('text', held)
  }

  #feedHeadThought(mode: ModeOf<'head-thought'>, char: string): void {
    mode.tail += char
    while (mode.tail !== '') {
      const { tail, head } = mode
      if (head.close.includes(tail) || head.open.includes(tail)) {
        this.#isInThought = head.open.includes(tail)
        this.#mode = this.#isInThought ? { type: 'head', head, open: tail, raw: '' } : TEXT
        return
      }
      if ([...head.close, ...head.open].some((mark) => mark.startsWith(tail))) return
      this.#say('thought', tail[0] ?? '')
      mode.tail = tail.slice(1)
    }
  }

  #takeAll(text: string): void {
    for (const char of text.split('')) this.#takeText(char)
  }

  #takeText(char: string): void {
    this.#tracker.push(char)
    if (isBlank(char)) this.#gap += char
    else this.#say('text', char)
  }

  #say(type: 'text' | 'thought', text: string): void {
    if (this.#outType !== type) this.#tell()
    this.#outType = type
    if (type === 'text') {
      this.#out += this.#gap
      this.#gap = ''
      this.#isAfterCall = false
    }
    this.#out += text
  }

  #tell(): void {
    const text = this.#out
    this.#out = ''
    if (text !== '') this.#init.onParsed({ type: this.#outType, text })
  }

  #tellCalls(calls: readonly ReadCall[], chars: number, isCut = false): void {
    this.#gap = ''
    this.#tell()
    for (const call of calls)
      this.#init.onParsed({ type: 'call', ...call, ...(isCut && call.problem !== undefined && { isCut }) })
    this.#tracker = this.#tracker.afterCall(chars)
    this.#isAfterCall = true
    this.#isStart = false
  }

  /** Returns true once nothing is left. */
  #finish(isWhole: boolean): boolean {
    const mode = this.#mode
    if (this.#doubt) this.#decide(this.#doubt)
    else if (mode.type === 'start' && !isWhole && !mode.mark.mayBeText) {
      this.#mode = TEXT
      this.#tellCalls([CUT], 0, true)
    } else if (mode.type === 'head' && !isWhole) this.#mode = TEXT
    else if (mode.type === 'start' || mode.type === 'head') this.#release()
    else if (mode.type === 'body') this.#finishBody(mode, isWhole)
    else if (mode.type === 'thought' && mode.held !== undefined) {
      this.#mode = TEXT
      this.#seesThoughts = false
      if (isWhole) this.#feed(mode.held)
      else this.#say('text', mode.held)
    } else {
      if (mode.type === 'head-thought') this.#say('thought', mode.tail)
      // Half a mark at the end of a truncated answer is not text.
      else if (isWhole || this.#tail.length === 1) this.#takeAll(this.#tail)
      this.#tail = ''
      if (!this.#isAfterCall && this.#gap !== '') this.#say('text', '')
      return true
    }
    return false
  }

  #finishBody(mode: ModeOf<'body'>, isWhole: boolean): void {
    const { mark, body, end, raw, length } = mode
    const isLong = length > CALL_CHARS
    const reading = { tools: this.#init.tools, mayRepair: this.#init.mayRepair && isWhole, isClosed: false }
    const calls = isLong ? undefined : body.read(withoutPart(raw, mark.close), reading)
    const hidden = end.hidden()
    this.#mode = TEXT
    if (calls && calls.every(({ problem }) => problem === undefined)) {
      const told = mark.endsWithAnswer ? calls : calls.map((call) => addRepair(call, 'closing-mark'))
      this.#tellCalls(told, length)
    } else if (hidden && !isLong) {
      this.#seesTexts = false
      this.#closeBody(mode, raw.slice(0, hidden.length), hidden.mark)
      this.#feed(raw.slice(hidden.length))
    } else if (mark.mayBeText && !isLong) this.#takeAll(mark.open + raw)
    else this.#tellCalls(isLong ? [tooLong()] : (calls ?? [CUT]), length, !isLong)
  }
}

/** The arguments look like those of a call that ends early, so any reader sees that it was cut off. */
const CUT: ReadCall = { name: '', arguments: '{', problem: 'it ends early' }

function tooLong(): ReadCall {
  return { name: '', arguments: '{}', problem: `it is longer than ${CALL_CHARS} characters` }
}

function addRepair(call: ReadCall, repair: string): ReadCall {
  return { ...call, repairs: [...new Set([...(call.repairs ?? []), repair])] }
}

function createStart(mark: Mark): Mode {
  return { type: 'start', mark, raw: '', start: '', hasSpace: false, isInside: !mark.isFence }
}

type Found =
  | { readonly type: 'none' }
  | { readonly type: 'maybe' }
  /** Meaningless text. */
  | { readonly type: 'stray' }
  | { readonly type: 'thought-end' }
  | { readonly type: 'mark'; readonly mark: Mark }
  | { readonly type: 'head'; readonly head: Head }
  /** A thought within the text. */
  | { readonly type: 'thought'; readonly kind: string }

interface MarkPlace {
  readonly isLineStart: boolean
  readonly isAfterCall: boolean
}

interface MarkFinder {
  find(tail: string, place: MarkPlace): Found
  /** Whether any mark begins with this character. */
  mayBegin(char: string): boolean
}

interface Candidate {
  readonly open: string
  readonly found: Found
  readonly isThere?: (place: MarkPlace) => boolean
}

/** Finds the format mark that is, or may become, the end of the held-back text. */
function createMarkFinder({ marks, head, strays = [] }: PromptedFormat): MarkFinder {
  const candidates: readonly Candidate[] = [
    ...marks.map((mark): Candidate => {
      const found: Found = { type: 'mark', mark }
      return { open: mark.open, found, ...(mark.isFence && { isThere: ({ isLineStart }: MarkPlace) => isLineStart }) }
    }),
    ...(head?.open ?? []).map((open): Candidate => ({ open, found: { type: 'head', head: head as Head } })), // it is non-empty
    ...(head?.close ?? []).map((open): Candidate => ({ open, found: { type: 'stray' } })),
    ...strays.map((open): Candidate => ({ open, found: { type: 'stray' }, isThere: ({ isAfterCall }) => isAfterCall })),
  ]
  const firsts = new Set(['<', '[', ...candidates.map(({ open }) => open[0])])
  return {
    mayBegin: (char) => firsts.has(char),
    find: (tail, place) => {
      const tag = readThoughtTag(tail)
      if (typeof tag === 'object') return tag.isClosing ? { type: 'thought-end' } : { type: 'thought', kind: tag.kind }
      let found: Found = { type: tag ?? 'none' }
      for (const { open, found: known, isThere } of candidates) {
        if (!open.startsWith(tail) || isThere?.(place) === false) continue
        if (open.length === tail.length) return known
        found = { type: 'maybe' }
      }
      return found
    },
  }
}

const NAMES = ['think', 'thinking', 'thought', 'thoughts', 'reasoning', 'reflection', 'seed:think'] as const
/** Opening and closing text around a name. */
const BRACKETS = [
  ['<', '>'],
  ['[', ']'],
] as const
/** Maximum spaces after a name. */
const BLANKS_MAX = 8

interface ThoughtTag {
  /** Its brackets and name: a thought ends with a tag of the same kind. */
  readonly kind: string
  readonly isClosing: boolean
}

/**
 * Tags around thoughts that servers leave in the text of an answer: `<think>` of Qwen, DeepSeek and GLM, `<thinking>`
 * of Nova, `[THINK]` of Magistral, `<seed:think>` of Seed-OSS, and variants that other models write. One shared table.
 * Returns the tag that the text is, or whether it may become one; in any letter case, and with spaces after the name.
 */
function readThoughtTag(text: string): ThoughtTag | 'maybe' | undefined {
  for (const [open, close] of BRACKETS) {
    if (!text.startsWith(open)) continue
    const isClosing = text[1] === '/'
    const said = text.slice(isClosing ? 2 : 1).toLowerCase()
    if (NAMES.some((one) => one.startsWith(said))) return 'maybe'
    const found = NAMES.find((one) => said.startsWith(one) && /^\s*(?:[>\]]|$)/.test(said.slice(one.length)))
    if (found === undefined || said.length > found.length + BLANKS_MAX) return undefined
    const behind = said.slice(found.length).trimStart()
    if (behind === '') return 'maybe'
    return behind === close ? { kind: `${open}${found}`, isClosing } : undefined
  }
  return undefined
}

/** Looks for the end of a thought in the text after its opening tag. */
class ThoughtEnd {
  readonly #kind: string
  #tail = ''

  constructor(kind: string) {
    this.#kind = kind
  }

  /** Whether the thought ends with this character. */
  push(char: string): boolean {
    this.#tail = char === this.#kind[0] ? char : this.#tail === '' ? '' : this.#tail + char
    const tag = this.#tail === '' ? undefined : readThoughtTag(this.#tail)
    if (tag !== 'maybe') this.#tail = ''
    return typeof tag === 'object' && tag.isClosing && tag.kind === this.#kind
  }
}
