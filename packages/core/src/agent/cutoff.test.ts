// Waits that a cutoff ends early: how each settles, and that a settled wait is not retained.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { Cutoff } from './cutoff.ts'

test('a wait settles as its work does before the end, and rejects with the first cause after it', async () => {
  const end = new Cutoff()
  const never = new Promise<never>(() => {})
  expect(await end.until(Promise.resolve('done'))).toBe('done')
  await expect(end.until(Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  const waiting = end.until(never)
  end.end(new Error('gone'))
  end.end(new Error('gone again'))
  await expect(waiting).rejects.toThrow('gone')
  await expect(end.until(never)).rejects.toThrow(/^gone$/)
  await expect(end.until(Promise.reject(new Error('broken later')))).rejects.toThrow(/^gone$/)
})

test('waits that are over are not kept, and their values neither', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void // what the flag exposes
  const end = new Cutoff()
  const values: WeakRef<object>[] = []
  for (let count = 0; count < 100; count += 1) {
    const value = {}
    values.push(new WeakRef(value))
    await end.until(Promise.resolve(value))
  }
  const countKept = (): number => {
    collectGarbage()
    return values.slice(0, -1).filter((value) => value.deref() !== undefined).length
  }
  await expect.poll(countKept).toBe(0)
  end.end(new Error('gone'))
})
