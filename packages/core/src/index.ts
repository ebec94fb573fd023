// What users and other packages import from @baton/core.
export * from './errors.ts'
export * from './json.ts'
export * from './messages.ts'
export * from './agent/environment.ts'
export * from './agent/model.ts'
export * from './agent/schema.ts'
export * from './agent/tool.ts'
