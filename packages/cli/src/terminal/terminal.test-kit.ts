// `baton chat` in real terminals, using tmux: its screen and the keys typed.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const BATON = fileURLToPath(new URL('../../bin/baton.mjs', import.meta.url))
/** Milliseconds to wait for expected output. */
const SHOWN_MS = 180_000

/** Checks for tmux and prints what is skipped without it. @throws Error if nothing may be skipped */
export function findTmux(what: string): boolean {
  if (spawnSync('tmux', ['-V']).status === 0) return true
  if (process.env['BATON_TEST_REQUIRE'] === 'all') throw new Error(`${what}: there is no tmux`)
  console.warn(`SKIPPED: ${what}. Install tmux.`)
  return false
}

export interface Terminals {
  /** Starts `baton chat` with these words in a new terminal, 80 columns wide, and waits for its prompt. */
  chat(words: string, terminal?: Terminal): Promise<void>
  /** Closes the terminal window, and waits for the processes in it to end. */
  closeTerminal(): Promise<void>
  press(key: string): void
  /** Everything shown so far. */
  screen(): string
  /** Waits until the terminal shows this. @throws Error after a minute */
  shows(wanted: RegExp): Promise<string>
  tmux(...words: readonly string[]): string
  /** Types a line. */
  type(text: string): void
}

export interface Terminal {
  readonly columns?: number
  readonly variables?: string
}

export function createTerminals(folder: () => string): Terminals {
  /** Each terminal has its own tmux server, because a dying one still answers on its socket. */
  let count = 0
  const tmux = (...words: readonly string[]): string =>
    spawnSync('tmux', ['-S', join(folder(), `tmux${count}`), ...words], { encoding: 'utf8' }).stdout
  const screen = (): string => tmux('capture-pane', '-p', '-t', 'chat', '-S', '-').trimEnd()
  const press = (key: string): void => void tmux('send-keys', '-t', 'chat', key)
  const shows = async (wanted: RegExp): Promise<string> => {
    const deadline = performance.now() + SHOWN_MS
    for (;;) {
      const shown = screen()
      if (wanted.test(shown)) return shown
      if (performance.now() > deadline) throw new Error(`the terminal does not show ${String(wanted)}:\n${shown}`)
      await wait(30)
    }
  }
  return {
    tmux,
    screen,
    press,
    shows,
    type: (text) => {
      tmux('send-keys', '-t', 'chat', '-l', text)
      press('Enter')
    },
    chat: async (words, { columns = 80, variables = '' } = {}) => {
      count += 1
      const command = `cd ${folder()}; env -i PATH="$PATH" TERM=screen HOME=${folder()} ${variables} "${process.execPath}" "${BATON}" chat ${words}; echo "code $?"; sleep 60`
      tmux('new-session', '-d', '-x', String(columns), '-y', '50', '-s', 'chat', command)
      await shows(/^› *$|why: *$|code/m)
    },
    closeTerminal: async () => {
      const shell = tmux('list-panes', '-t', 'chat', '-F', '#{pane_pid}').trim()
      tmux('kill-server')
      // A zombie process counts as ended.
      const listStates = (): string => {
        const { status, stdout } = spawnSync('ps', ['-o', 'stat=', '-s', shell], { encoding: 'utf8' })
        return status === null ? '' : stdout // `ps` is missing
      }
      while (/^[^Z\s]/m.test(listStates())) await wait(10)
    },
  }
}
