// The exports of @baton/console.
export { createConsole } from './create-console.ts'
export type { ConsoleOptions, OperatorPower } from './create-console.ts'
