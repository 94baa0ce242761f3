// SPDX-License-Identifier: Apache-2.0
// What a page shows, as src/page/document.cpp writes it: what is empty is left out, and a value that is not finite is
// null.

/** @typedef {'number' | 'count' | 'bytes' | 'percent' | 'seconds' | 'text'} Unit */
/** @typedef {(number | null)[]} Values */
/** @typedef {{ title?: string, note?: string }} Titled */
/** @typedef {{ label: string, value: string }} Fact */
/** @typedef {{ text: string, path: string }} Link */
/** @typedef {{ events: string, document: string, revision: string, said?: string, keep_seconds?: number }} Live */
/** @typedef {{ name: string, share?: number, stop?: string }} Task */
/** @typedef {{ title: string, note: string, path: string, most: number }} Upload */
/** @typedef {{ name: string, value: number }} Limit */
/** @typedef {{ x: number, label: string }} Mark */

/**
 * @typedef {object} FieldData
 * @property {string} name
 * @property {string} label
 * @property {'text' | 'number' | 'choice' | 'flag'} kind
 * @property {string} [help]
 * @property {string} [value]
 * @property {string} [otherwise]
 * @property {string[]} [choices]
 * @property {boolean} [required]
 */
/** @typedef {{ name: string, folded?: boolean, fields: FieldData[] }} FieldGroup */
/** @typedef {{ name: string, label: string, groups: FieldGroup[] }} FormKind */
/**
 * @typedef {object} Form
 * @property {FormKind[]} kinds
 * @property {string} kind
 * @property {string} document
 * @property {string} [said]
 * @property {boolean} [failed]
 * @property {string} [command]
 */

/** @typedef {'neutral' | 'good' | 'warning' | 'bad'} Tone */
/** @typedef {{ text: string, paste: string }} Fix */
/**
 * @typedef {object} Verdict
 * @property {string} name
 * @property {Tone} tone
 * @property {string} [headline]
 * @property {string} [confidence]
 * @property {string[]} [also]
 * @property {string[]} [evidence]
 * @property {Fix} [fix]
 */

/**
 * @typedef {object} LineData
 * @property {string} name
 * @property {boolean} step
 * @property {Values} x
 * @property {Values} y
 * @property {Values} [band_low]
 * @property {Values} [band_high]
 */
/**
 * @typedef {object} Plot
 * @property {string} [title]
 * @property {string} [note]
 * @property {Unit} x_unit
 * @property {Unit} y_unit
 * @property {string} [x_label]
 * @property {string} [y_label]
 * @property {Limit} [limit]
 * @property {Mark[]} [marks]
 * @property {LineData[]} [lines]
 * @property {boolean} [stacked]
 */

/**
 * @typedef {object} HeatMap
 * @property {string} [title]
 * @property {string} [note]
 * @property {Unit} unit
 * @property {string} [x_label]
 * @property {string} [y_label]
 * @property {string} [measured]
 * @property {{ name: string, values: Values }[]} [rows]
 * @property {number} [columns_each]
 * @property {number} [columns]
 */

/** @typedef {{ name: string, kind: 'root' | 'python' | 'native' }} Frame */
/** @typedef {{ name: string, unit: Unit }} Measure */
/** @typedef {{ frames: number[], values: Values, held?: number[] }} FlameStack */
/**
 * @typedef {object} FlameGraph
 * @property {string} [title]
 * @property {string} [note]
 * @property {Measure[]} [measures]
 * @property {Frame[]} [frames]
 * @property {FlameStack[]} [stacks]
 * @property {number[]} [moments]
 * @property {Unit} [moments_unit] seconds where it is not there
 * @property {string} [moments_name]
 */

/** @typedef {[offset: number, size: number, requested: number, state: number, stack: number]} Block */
/**
 * @typedef {object} Segment
 * @property {string} address hexadecimal
 * @property {number} size
 * @property {'small' | 'large' | 'expandable'} kind
 * @property {string} [name]
 * @property {string} [stream]
 * @property {string} [pool]
 * @property {Block[]} [blocks]
 */
/** @typedef {{ title?: string, note?: string, segments?: Segment[], stacks?: string[] }} MemoryMap */

/** @typedef {{ name: string, value: number }} Part */
/** @typedef {{ name: string, parts: Part[], low?: number, high?: number }} Bar */
/** @typedef {{ title?: string, note?: string, unit: Unit, limit?: Limit, bars?: Bar[] }} BarChart */

/** @typedef {string | number | Link | null} Cell */
/**
 * @typedef {object} Column
 * @property {string} name
 * @property {Unit} unit
 * @property {'left' | 'right'} align
 * @property {boolean} [bar]
 * @property {boolean} [filter]
 */
/**
 * @typedef {object} Table
 * @property {string} [title]
 * @property {string} [note]
 * @property {Column[]} [columns]
 * @property {Cell[][]} [rows]
 * @property {number} [highlight]
 * @property {boolean} [search]
 * @property {string} [together]
 */

/**
 * @typedef {object} Document
 * @property {string} title
 * @property {string} [subtitle]
 * @property {Fact[]} [facts]
 * @property {Upload} [upload]
 * @property {Form} [form]
 * @property {Verdict} [verdict]
 * @property {Verdict} [advice]
 * @property {Task} [task]
 * @property {Plot[]} [plots]
 * @property {HeatMap[]} [heat_maps]
 * @property {FlameGraph[]} [flames]
 * @property {MemoryMap[]} [maps]
 * @property {BarChart[]} [bars]
 * @property {Table[]} [tables]
 * @property {Live} [live]
 * @property {string} [up]
 * @property {boolean} [up_is_here]
 * @property {Link[]} [links]
 */

export {};
