// The text of a running turn as version 1 shows it: the whole answer so far, not too often. Time is handed in. A piece of
// text costs no more than its own length: the whole is put together only when it is shown.

export interface Partials {
  /** A new turn: nothing was said yet. */
  beginTurn(): void
  /** Only text of this attempt counts from now on. `key` names it in the ids of frames. */
  beginAttempt(attempt: number, key: string): void
  handleDelta(delta: { readonly attempt: number; readonly offset: number; readonly text: string }): void
  /** What the attempt said is void; it comes again. */
  dropAttempt(): void
  /** The attempt's text stands. */
  finishStep(text: string): void
  endTurn(): void
  /** The text to show now, if it is time; `force`: whatever the time. */
  take(nowMs: number, force?: boolean): { readonly key: string; readonly text: string } | undefined
  /** When `take` may have something. */
  pollAtMs(): number | undefined
}

interface Attempt {
  readonly attempt: number
  readonly key: string
  text: string
}

export function createPartials(intervalMs: number): Partials {
  /** Texts of the turn's finished steps; undefined where the turn's beginning was not seen. */
  let earlier: readonly string[] | undefined
  let attempt: Attempt | undefined
  /** The frame's key of the last text, which may still have to be shown when its attempt is over. */
  let key = ''
  let hasNews = false
  let shown = ''
  let shownAtMs = Number.NEGATIVE_INFINITY

  const whole = (): string => {
    const texts = [...(earlier ?? []), attempt?.text ?? '']
    return texts
      .filter((text) => text !== '')
      .join('\n\n')
      .trim()
  }

  return {
    beginTurn: () => {
      earlier = []
      attempt = undefined
      hasNews = false
      shown = ''
    },
    beginAttempt: (number, name) => {
      attempt = { attempt: number, key: name, text: '' }
    },
    handleDelta: ({ attempt: number, offset, text }) => {
      if (attempt?.attempt !== number || earlier === undefined) return
      attempt.text = offset === attempt.text.length ? attempt.text + text : attempt.text.slice(0, offset) + text
      key = attempt.key
      hasNews = true
    },
    dropAttempt: () => {
      attempt = undefined
      hasNews = false
    },
    finishStep: (text) => {
      if (attempt) key = attempt.key
      attempt = undefined
      if (earlier === undefined || text === '') return
      earlier = [...earlier, text]
      hasNews = true
    },
    endTurn: () => {
      earlier = undefined
      attempt = undefined
      hasNews = false
    },
    take: (nowMs, force = false) => {
      if (!hasNews || (!force && nowMs - shownAtMs < intervalMs)) return undefined
      hasNews = false
      const text = whole()
      if (text === '' || text === shown) return undefined
      shown = text
      shownAtMs = nowMs
      return { key: `${key}-p${text.length}`, text }
    },
    pollAtMs: () => (hasNews ? shownAtMs + intervalMs : undefined),
  }
}
