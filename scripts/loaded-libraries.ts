// Libraries that the product loads when it first needs them. Loading takes real time, which tests in virtual time do not
// wait for, so test workers load them first.
import 'ajv/dist/2020.js'
