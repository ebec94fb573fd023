// Options of a front whose name is not quite right: ignored in silence, a misspelt `authenticate` would let everybody in.
import { BatonError, checkFields, findNearName } from '@baton/core'

/** Fields of the world and the environment, which programs hand in whole. */
const WORLD = ['clock', 'timers', 'newId', 'log', 'transport']

/** What other libraries call an option of a front. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  auth: 'authenticate',
  authentication: 'authenticate',
  authorize: 'authenticate',
  verify: 'authenticate',
  getUser: 'authenticate',
  cors: 'origins',
  allowedOrigins: 'origins',
  corsOrigins: 'origins',
  path: 'basePath',
  prefix: 'basePath',
  hostname: 'address',
  tokens: 'token',
}

/** @throws BatonError `invalid_option` for a name that stands for one of these fields and is none of them */
export function refuseMisspelt(options: object, what: string, names: readonly string[]): void {
  const fields = new Set([...names, ...WORLD])
  const elsewhere = Object.fromEntries(Object.entries(ELSEWHERE).filter(([, field]) => fields.has(field)))
  const isMeant = (name: string): boolean => Object.hasOwn(elsewhere, name) || findNearName(fields, name) !== undefined
  // Other names are of a program that hands in all that it has.
  const wrong = Object.keys(options).find((name) => !fields.has(name) && isMeant(name))
  if (wrong !== undefined) checkFields({ [wrong]: true }, { what, code: 'invalid_option', fields, elsewhere })
}

/** @throws BatonError `invalid_option` */
export function demandHost(host: unknown, how: string): void {
  if (typeof host === 'object' && host !== null && 'session' in host) return
  throw new BatonError({ code: 'invalid_option', message: `${how.split('(')[0]} needs a host`, hint: `Write ${how}.` })
}
