// `baton serve --dev`: the same server as a child of Node's watcher, which restarts it when the agent's file or a file
// it imports changes. The old server gets a signal, finishes its turns, and only then the new one starts on the same
// port.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Console } from '../console.ts'

const BATON = fileURLToPath(new URL('../../bin/baton.mjs', import.meta.url))
const WATCH = ['--watch', '--watch-preserve-output', '--watch-kill-signal=SIGTERM']

/** `words` are those of `serve` without `--dev`. Returns the exit code. */
export function develop(words: readonly string[], terminal: Console): Promise<number> {
  const child = spawn(process.execPath, [...WATCH, BATON, 'serve', ...words], {
    cwd: terminal.folder,
    env: { ...terminal.variables },
    stdio: 'inherit',
    // In its own process group, so that Ctrl+C reaches it once, through this process, and a running turn can end.
    detached: process.platform !== 'win32',
  })
  const endGroup = (): void => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    if (process.platform === 'win32') child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  }
  // A second signal ends this process at once, and must not leave a server behind.
  process.once('exit', endGroup)
  const stopListening = terminal.onStop(() => void child.kill('SIGTERM'))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      stopListening()
      process.off('exit', endGroup)
      resolve(signal === null ? (code ?? 1) : 1)
    })
  })
}
