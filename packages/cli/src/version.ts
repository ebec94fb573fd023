// The version of this package; a test holds it to package.json.

export const VERSION = '0.1.0'
