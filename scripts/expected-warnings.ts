// Hides warnings that tests cause on purpose (tools with unusual schemas), so that any other warning is noticed.
const { emitWarning } = process

process.emitWarning = (warning: string | Error, ...rest: readonly unknown[]): void => {
  const [options] = rest
  if (typeof options === 'object' && options && 'code' in options && options.code === 'invalid_schema') return
  Reflect.apply(emitWarning, process, [warning, ...rest])
}
