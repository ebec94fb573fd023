// Sends a question to another process of the benchmark and waits for its answer.
import type { ChildProcess, Serializable } from 'node:child_process'

/** Timeout for any answer in milliseconds: longer than the longest batch on a slow machine. */
const ANSWER_MS = 300_000

/** @throws Error if the process fails, ends, or does not answer in time */
export function ask<Answer>(child: ChildProcess, question?: Serializable): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const fail = (why: string): void =>
      settle(() => reject(new Error(`${child.spawnargs.slice(-2).join(' ')}: ${why}`)))
    const settle = (then: () => void): void => {
      clearTimeout(timer)
      child.off('message', onMessage)
      child.off('exit', onExit)
      then()
    }
    const onMessage = (message: unknown): void => {
      const { error } = message as { readonly error?: string }
      if (error === undefined)
        settle(() => resolve(message as Answer)) // both ends are in this folder
      else fail(error)
    }
    const onExit = (code: number | null): void => fail(`the process ended with code ${code}`)
    const timer = setTimeout(() => fail(`no answer within ${ANSWER_MS} ms`), ANSWER_MS)
    child.on('message', onMessage)
    child.on('exit', onExit)
    if (question !== undefined) child.send(question)
  })
}
