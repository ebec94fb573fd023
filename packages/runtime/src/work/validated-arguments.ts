// Arguments that were validated when their call was proposed, kept until it runs, so that they are validated once. What is
// not here any more, as after a restart, is validated again.

/** Calls of one session that may wait to run: more than a turn has. */
const KEPT_MAX = 256

export class ValidatedArguments {
  readonly #kept = new Map<string, unknown[]>()
  #count = 0

  keep(name: string, argumentsText: string, value: unknown): void {
    if (this.#count >= KEPT_MAX) this.#forgetOldest()
    const key = `${name} ${argumentsText}`
    const values = this.#kept.get(key)
    if (values) values.push(value)
    else this.#kept.set(key, [value])
    this.#count += 1
  }

  /** Each value is given once: two equal calls never share an object. */
  take(name: string, argumentsText: string): { readonly value: unknown } | undefined {
    const key = `${name} ${argumentsText}`
    const values = this.#kept.get(key)
    if (!values) return undefined
    const value = values.pop()
    this.#count -= 1
    if (values.length === 0) this.#kept.delete(key)
    return { value }
  }

  #forgetOldest(): void {
    for (const [key, values] of this.#kept) {
      this.#kept.delete(key)
      this.#count -= values.length
      return
    }
  }
}
