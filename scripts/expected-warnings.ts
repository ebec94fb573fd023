// Keeps warnings that tests cause on purpose out of their output, so that any other warning is seen: tools with strange schemas.
const { emitWarning } = process

process.emitWarning = (warning: string | Error, ...rest: readonly unknown[]): void => {
  const [options] = rest
  if (typeof options === 'object' && options && 'code' in options && options.code === 'invalid_schema') return
  Reflect.apply(emitWarning, process, [warning, ...rest])
}
