// The keyboard: single keys, and `g` followed by another. Keys belong to the view that is shown, and never to a field.

export interface Shortcut {
  /** `j`, `Enter`, `g s`. */
  readonly keys: string
  readonly does: string
  readonly run: () => void
}

/** Milliseconds for the second of two keys. */
const SEQUENCE_MS = 1500

/** Returns what to call with each key. `list` returns the shortcuts of now, the innermost first. */
export function createKeyReader(list: () => readonly Shortcut[]): (event: KeyboardEvent) => void {
  let first = ''
  let firstMs = 0
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
    if (document.querySelector('dialog[open]') || isField(event.target)) return
    const isSecond = first !== '' && event.timeStamp - firstMs < SEQUENCE_MS
    const keys = isSecond ? `${first} ${event.key}` : event.key
    first = ''
    // A focused button or link has Enter for itself.
    if (event.key === 'Enter' && isControl(event.target)) return
    const shortcuts = list()
    const found = shortcuts.find((one) => one.keys === keys)
    if (found) {
      event.preventDefault()
      found.run()
    } else if (shortcuts.some((one) => one.keys.startsWith(`${event.key} `))) {
      first = event.key
      firstMs = event.timeStamp
    }
  }
}

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement
  )
}

function isControl(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLButtonElement ||
    target instanceof HTMLAnchorElement ||
    (target instanceof HTMLElement && target.tagName === 'SUMMARY')
  )
}
