// A line editor for terminals: multi-line messages, wide characters, and a history. Keys typed while no line is being
// read are kept for the next one and not shown. Node reads the keys; the display is laid out here, because Node's own
// line editor repeats a row when the cursor moves back across its end.
import { emitKeypressEvents } from 'node:readline'
import type { ChatHistory } from './chat-history.ts'
import type { TerminalOutput } from '../console.ts'
import type { EditedText, Key } from './edited-text.ts'
import { applyKey, EMPTY, insert, moveLine, nameKey } from './edited-text.ts'
import { escapeControls } from './escape-controls.ts'
import { layOut } from './line-layout.ts'

export interface LineEditorOptions {
  readonly input: NodeJS.ReadableStream & { setRawMode?(isRaw: boolean): unknown }
  readonly output: TerminalOutput
  readonly completions: readonly string[]
  readonly history?: ChatHistory
  /** Called for a line that was finished while none was being read. */
  readonly onLine: (line: string) => void
  /** Called at Ctrl+C; `hadText` if it discarded a started line. */
  readonly onInterrupt: (hadText: boolean) => void
  /** Called at Ctrl+D in an empty line, or the end of the input. */
  readonly onEnd: () => void
}

export interface LineEditor {
  /**
   * Reads a message, starting with anything typed meanwhile. `undefined` at the end. When `signal` aborts, takes the
   * prompt off the screen, keeps what was typed, and resolves with an empty text.
   */
  readMessage(prompt: string, signal: AbortSignal): Promise<string | undefined>
  /**
   * Reads an answer to a question, which is not added to the history. Anything typed before is no answer, and is kept for
   * the next message. @throws when `signal` aborts, or at the end
   */
  readAnswer(question: string, signal: AbortSignal): Promise<string>
  close(): void
}

interface Reading {
  readonly prompt: string
  readonly isMessage: boolean
  /** Text of the message that the question interrupts. */
  readonly begun: EditedText
  readonly done: PromiseWithResolvers<string | undefined>
}

const CONTINUED = '… '
/** Maximum characters of a message. */
const TEXT_MAX = 1024 * 1024
const PASTE_ON = '\u001b[?2004h'
const PASTE_OFF = '\u001b[?2004l'
const CLEAR_BELOW = '\u001b[J'
const HISTORY_MAX = 1000
const ROWS = 24
const COLUMNS = 80

export function createLineEditor(init: LineEditorOptions): LineEditor {
  return new TerminalLineEditor(init)
}

class TerminalLineEditor implements LineEditor {
  readonly #init: LineEditorOptions
  /** Newest first. */
  readonly #history: string[]
  #edited: EditedText = EMPTY
  /** Index of the history entry shown; -1 for the line being typed. */
  #shownHistory = -1
  #begun = ''
  #reading: Reading | undefined
  #isPasting = false
  #isClosed = false
  /** Row of the cursor, relative to the first row shown. */
  #cursorRow = 0

  constructor(init: LineEditorOptions) {
    this.#init = init
    this.#history = [...(init.history?.lines ?? [])]
    const { input, output } = init
    emitKeypressEvents(input)
    input.setRawMode?.(true)
    input.on('keypress', this.#onKey)
    input.on('end', this.#end)
    output.on('resize', this.#show)
    output.write(PASTE_ON)
    input.resume()
  }

  async readMessage(prompt: string, signal: AbortSignal): Promise<string | undefined> {
    if (this.#isClosed) return undefined
    if (signal.aborted) return ''
    const done = this.#read(prompt, true)
    const leave = (): void => {
      if (this.#reading?.done !== done) return
      this.#init.output.write(`${up(this.#cursorRow)}\r${CLEAR_BELOW}`)
      this.#cursorRow = 0
      this.#reading = undefined
      done.resolve('')
    }
    signal.addEventListener('abort', leave, { once: true })
    const message = await done.promise
    signal.removeEventListener('abort', leave)
    return message
  }

  async readAnswer(question: string, signal: AbortSignal): Promise<string> {
    if (this.#isClosed || signal.aborted) throw new Error('nobody answered')
    const begun = this.#edited
    this.#edited = EMPTY
    const done = this.#read(question, false, begun)
    const leave = (): void => {
      this.#finish()
      done.resolve(undefined)
    }
    signal.addEventListener('abort', leave, { once: true })
    const answer = await done.promise
    signal.removeEventListener('abort', leave)
    if (answer === undefined) throw new Error('nobody answered')
    return answer
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const { input, output } = this.#init
    input.off('keypress', this.#onKey)
    input.off('end', this.#end)
    output.off('resize', this.#show)
    output.write(PASTE_OFF)
    input.setRawMode?.(false)
    input.pause()
    this.#reading?.done.resolve(undefined)
    this.#reading = undefined
  }

  #read(prompt: string, isMessage: boolean, begun = EMPTY): PromiseWithResolvers<string | undefined> {
    const done = Promise.withResolvers<string | undefined>()
    this.#reading = { prompt, isMessage, begun, done }
    this.#cursorRow = 0
    this.#shownHistory = -1
    this.#show()
    return done
  }

  readonly #end = (): void => {
    this.close()
    this.#init.onEnd()
  }

  readonly #onKey = (text: string | undefined, key: Key = {}): void => {
    const name = nameKey(key)
    if (name === 'paste-start' || name === 'paste-end') this.#isPasting = name === 'paste-start'
    else if (this.#isPasting) this.#paste(text, key)
    else if (!this.#obey(name)) this.#edit(text, key)
    if (!this.#isPasting) this.#show()
  }

  #paste(text: string | undefined, { name }: Key): void {
    const isBreak = name === 'return' || name === 'enter'
    const piece = isBreak ? (this.#reading?.isMessage === false ? ' ' : '\n') : name === 'tab' ? '\t' : readable(text)
    if (this.#edited.text.length < TEXT_MAX) this.#edited = insert(this.#edited, piece)
  }

  #edit(text: string | undefined, key: Key): void {
    const edited = applyKey(this.#edited, key)
    if (edited) this.#edited = edited
    else if (!key.ctrl && !key.meta && this.#edited.text.length < TEXT_MAX)
      this.#edited = insert(this.#edited, readable(text))
  }

  /** Returns true if the key was a command. */
  #obey(name: string): boolean {
    const { text, cursor } = this.#edited
    switch (name) {
      case 'return':
        if (/(^|[^\\])\\$/.test(text.slice(0, cursor)) && this.#reading?.isMessage)
          this.#edited = insert({ text: text.slice(0, cursor - 1) + text.slice(cursor), cursor: cursor - 1 }, '\n')
        else this.#submit()
        return true
      case 'enter':
      case 'meta+return':
      case 'meta+enter':
        if (this.#reading?.isMessage) this.#edited = insert(this.#edited, '\n')
        return true
      case 'ctrl+c':
        this.#interrupt()
        return true
      case 'ctrl+d':
        if (text !== '') return false
        this.#end()
        return true
      case 'ctrl+l':
        if (this.#reading) this.#init.output.write('\u001b[2J\u001b[H')
        this.#cursorRow = 0
        return true
      case 'ctrl+z':
        this.#suspend()
        return true
      case 'tab':
        this.#complete()
        return true
      case 'up':
      case 'ctrl+p':
        this.#look(-1)
        return true
      case 'down':
      case 'ctrl+n':
        this.#look(1)
        return true
      default:
        return false
    }
  }

  #submit(): void {
    const { text } = this.#edited
    const { done, isMessage } = this.#reading ?? {}
    if (isMessage !== false) this.#keep(text)
    this.#finish()
    if (done) done.resolve(text)
    else this.#init.onLine(text)
  }

  /** Leaves the typed lines on the screen; later output begins below them. */
  #finish(): void {
    this.#edited = { text: this.#edited.text, cursor: this.#edited.text.length }
    this.#show()
    if (this.#reading) this.#init.output.write('\r\n')
    this.#edited = this.#reading?.begun ?? EMPTY
    this.#reading = undefined
  }

  #keep(text: string): void {
    if (text.trim() === '') return
    const before = this.#history.indexOf(text)
    if (before >= 0) this.#history.splice(before, 1)
    this.#history.unshift(text)
    this.#history.splice(HISTORY_MAX)
    this.#init.history?.add(text)
  }

  #interrupt(): void {
    const hadText = this.#reading?.isMessage === true && this.#edited.text !== ''
    if (hadText) this.#edited = EMPTY
    this.#init.onInterrupt(hadText)
  }

  #suspend(): void {
    if (process.platform === 'win32') return
    this.#init.input.setRawMode?.(false)
    process.once('SIGCONT', () => {
      if (this.#isClosed) return
      this.#init.input.setRawMode?.(true)
      this.#cursorRow = 0
      this.#show()
    })
    process.kill(process.pid, 'SIGTSTP')
  }

  #complete(): void {
    const { text } = this.#edited
    const found = text.startsWith('/') ? this.#init.completions.filter((word) => word.startsWith(text)) : []
    const [only] = found
    if (found.length === 1 && only !== undefined) this.#edited = { text: only, cursor: only.length }
  }

  /** Moves a line up or down in the message, then in the history. */
  #look(by: -1 | 1): void {
    const moved = moveLine(this.#edited, by)
    if (moved) {
      this.#edited = moved
      return
    }
    const next = this.#shownHistory - by
    if (next < -1 || next >= this.#history.length || this.#reading?.isMessage === false) return
    if (this.#shownHistory === -1) this.#begun = this.#edited.text
    this.#shownHistory = next
    const text = next === -1 ? this.#begun : (this.#history[next] ?? '')
    this.#edited = { text, cursor: text.length }
  }

  readonly #show = (): void => {
    if (!this.#reading || this.#isClosed) return
    const { output } = this.#init
    const { prompt } = this.#reading
    const { rows, cursor } = layOut({
      prompt,
      continued: CONTINUED,
      ...this.#edited,
      columns: output.columns ?? COLUMNS,
    })
    // Rows off the screen cannot be rewritten, so only the rows around the cursor are shown.
    const most = Math.max(1, (output.rows ?? ROWS) - 1)
    const from = Math.max(0, Math.min(cursor.row - most + 1, rows.length - most), cursor.row - most + 1)
    const shown = rows.slice(from, from + most)
    const row = cursor.row - from
    const below = shown.length - 1 - row
    output.write(
      `${up(this.#cursorRow)}\r${CLEAR_BELOW}${shown.join('\r\n')}${up(below)}\r${cursor.column > 0 ? `\u001b[${cursor.column}C` : ''}`,
    )
    this.#cursorRow = row
  }
}

function up(rows: number): string {
  return rows > 0 ? `\u001b[${rows}A` : ''
}

/** Removes control characters from typed and pasted text, which could control the terminal. */
function readable(text = ''): string {
  return escapeControls(text) === text ? text : ''
}
