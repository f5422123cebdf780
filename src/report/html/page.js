// Draws a report: a table of kernels; of the chosen one its source with the heat of each line; of a chosen line who
// meets whom. Everything is made when it is asked for, so that large reports open at once.
'use strict';
(() => {
  const report = JSON.parse(document.getElementById('report').textContent);
  const number = new Intl.NumberFormat('en-US');
  const format = (value) => number.format(value);
  const counted = (value, unit, mark = '') => `${mark}${format(value)} ${unit}${value === 1 ? '' : 's'}`;
  const percent = (value) => (value === 1 ? '100%' : (100 * value).toFixed(1) + '%');
  const byId = (id) => document.getElementById(id);

  // Elements: el('td', {class: 'x'}, child, …); children are nodes or text.
  function el(name, attributes, ...children) {
    const isSvg = ['svg', 'rect', 'text', 'g', 'title'].includes(name);
    const node = isSvg ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
      else if (value !== null && value !== undefined) node.setAttribute(key, value);
    }
    for (const child of children) if (child !== null && child !== undefined) node.append(child);
    return node;
  }

  function table(caption, heads, rows, leftColumns) {
    const left = (i) => (i < leftColumns || heads[i] === 'source' ? 'left' : null);
    const head = el('tr', {}, ...heads.map((text, i) => el('th', {scope: 'col', class: left(i)}, text)));
    return el('table', {}, caption ? el('caption', {}, caption) : null, el('thead', {}, head),
      el('tbody', {}, ...rows));
  }

  // Sums.

  const knowsL1 = report.model !== null && report.model.l1_evidence === 'measured';
  const isShared = (line) => line.space === 'shared';
  const excess = (line) => (isShared(line) ? line.wavefronts - line.ideal
    : line.space === 'local' ? line.sectors : line.sectors - line.sectors_ideal);
  function sumsOf(launch) {
    const sums = {wavefronts: 0, ideal: 0, sectors: 0, sectorsIdeal: 0, way: 0};
    for (const line of launch.lines) {
      sums.wavefronts += line.wavefronts;
      sums.ideal += line.ideal;
      sums.way = Math.max(sums.way, line.max_way);
      if (line.space !== 'global') continue;
      sums.sectors += line.sectors;
      sums.sectorsIdeal += line.sectors_ideal;
    }
    return sums;
  }
  // Of launches of less than 0.1 us launching takes longer.
  const boundWords = {'memory': 'for memory if no cache answers', 'data stage': 'for wavefronts',
    'data stage without conflicts': 'for those without conflicts', 'issue': 'for instructions (about)'};
  const time = (seconds) => (seconds < 1e-3 ? `${(seconds * 1e6).toFixed(2)} us` : `${(seconds * 1e3).toFixed(3)} ms`);
  function leastTime(launch) {
    const list = launch.bounds || [];
    if (!list.some((bound) => bound.seconds >= 1e-7)) return '';
    return `Least time (${report.chip.name}): ${list.map((b) => `${time(b.seconds)} ${boundWords[b.name]}`).join(', ')}.`;
  }
  const shape = (dim) => dim.filter((v, i) => i === 0 || v !== 1 || (i === 1 && dim[2] !== 1)).map(format).join(' × ');

  // The tip that follows pointer and focus.

  const tip = byId('tip');
  function showTip(text, x, y) {
    tip.textContent = text;
    tip.hidden = false;
    tip.style.left = Math.min(x + 12, innerWidth - tip.offsetWidth - 8) + 'px';
    tip.style.top = Math.min(y + 14, innerHeight - tip.offsetHeight - 8) + 'px';
  }
  const hideTip = () => { tip.hidden = true; };

  // Maps.

  const lanesOf = (mask) => {
    const list = [];
    for (let lane = 0; lane < 32; ++lane) if ((mask >>> lane) & 1) list.push(lane);
    return list;
  };
  const laneText = (mask) => {
    const list = lanesOf(mask);
    if (list.length === 1) return 'lane ' + list[0];
    const run = list[list.length - 1] - list[0] + 1 === list.length;
    return 'lanes ' + (run && list.length > 2 ? list[0] + '–' + list[list.length - 1] : list.join(', '));
  };

  // Rows are lanes, columns banks. A square is red where its bank has another word in the same phase.
  function bankMap(map, title) {
    const size = map.banks > 64 ? 5 : map.banks > 32 ? 8 : 13, left = 34, top = 22;
    const words = new Map();
    for (const [phase, bank] of map.cells) {
      const key = phase + ':' + bank;
      words.set(key, (words.get(key) || 0) + 1);
    }
    const svg = el('svg', {viewBox: `0 0 ${left + map.banks * size + 2} ${top + 32 * size + 2}`,
      width: left + map.banks * size + 2, role: 'img', 'aria-label': title});
    svg.append(el('text', {x: left, y: 9}, 'bank →'), el('text', {x: 0, y: top + 8}, 'lane'));
    const step = map.banks > 32 ? 8 : 4;
    for (let bank = 0; bank < map.banks; bank += step)
      svg.append(el('text', {x: left + bank * size, y: 19}, bank));
    for (let lane = 4; lane < 32; lane += 4) svg.append(el('text', {x: 12, y: top + lane * size + 8}, lane));
    svg.append(el('rect', {class: 'frame', x: left - 1, y: top - 1, width: map.banks * size + 2, height: 32 * size + 2}));
    for (const [phase, bank, word, mask] of map.cells) {
      const count = words.get(phase + ':' + bank);
      for (const lane of lanesOf(mask)) {
        const text = `bank ${bank}: ${laneText(mask)} → word ${format(word)}` +
          (map.phases.length > 1 ? `, phase ${phase}` : '') +
          (count > 1 ? `; ${count} words of this bank are asked for` : '');
        svg.append(el('rect', {class: count > 1 ? 'meet' : 'cell', x: left + bank * size + 1, y: top + lane * size + 1,
          width: size - 1.5, height: size - 1.5, rx: 1.5, 'data-bank': phase + ':' + bank, 'data-tip': text}));
      }
    }
    svg.addEventListener('pointermove', (event) => {
      const near = event.target.dataset && event.target.dataset.bank;
      for (const old of svg.querySelectorAll('.near')) old.classList.remove('near');
      if (!near) return hideTip();
      for (const rect of svg.querySelectorAll(`[data-bank="${near}"]`)) rect.classList.add('near');
      showTip(event.target.dataset.tip, event.clientX, event.clientY);
    });
    svg.addEventListener('pointerleave', hideTip);
    return svg;
  }

  // What a map shows, for those who do not see it: the banks that take longest.
  function meetings(map) {
    const banks = new Map();
    for (const [phase, bank, word, mask] of map.cells) {
      const key = phase + ':' + bank;
      if (!banks.has(key)) banks.set(key, {phase, bank, words: []});
      banks.get(key).words.push([word, mask]);
    }
    const worst = [...banks.values()].filter((b) => b.words.length > 1).sort((a, b) => b.words.length - a.words.length);
    const rows = worst.slice(0, 32).map((b) => el('tr', {}, el('td', {}, String(b.bank)), el('td', {}, String(b.phase)),
      el('td', {}, String(b.words.length)),
      el('td', {class: 'left name'}, b.words.map(([word, mask]) => `${laneText(mask)} → ${word}`).join('; '))));
    if (rows.length === 0) return el('p', {class: 'good'}, 'No two lanes ask one bank for different words.');
    return el('details', {}, el('summary', {}, `Who meets whom (${worst.length} ${worst.length === 1 ? 'bank' : 'banks'})`),
      el('div', {class: 'wide'}, table('', ['bank', 'phase', 'words', 'lanes → words'], rows, 1)));
  }

  function pattern(map, title) {
    const wavefronts = map.phases.reduce((sum, phase) => sum + phase.wavefronts, 0);
    const ideal = map.phases.filter((phase) => phase.wavefronts > 0).length;
    const text = `${title}: ${counted(wavefronts, 'wavefront')} for ${counted(ideal, 'phase')}`;
    return el('figure', {style: 'margin: .4rem 0'}, el('figcaption', {}, text), bankMap(map, text), meetings(map));
  }

  // Rows are 128-byte lines, columns bytes; sectors that are touched are framed, bytes that are used are filled.
  function sectorMap(worst) {
    const lanes = worst.addresses.map((address, lane) => ({address, lane})).filter((l) => l.address !== null);
    const lines = [...new Set(lanes.map((l) => Math.floor(l.address / 128)))].sort((a, b) => a - b);
    const shown = lines.slice(0, 32), size = 4, left = 4, height = 12, perLine = 128;
    const touched = new Set();
    for (const l of lanes)
      for (let byte = 0; byte < worst.width; byte += 32) touched.add(Math.floor((l.address + byte) / 32));
    for (const l of lanes) touched.add(Math.floor((l.address + worst.width - 1) / 32));
    const text = `${counted(lanes.length, 'lane')} of ${counted(worst.width, 'byte')} touch` +
      `${lanes.length === 1 ? 'es' : ''} ${counted(touched.size, 'sector')} in ${counted(lines.length, 'line')}`;
    const svg = el('svg', {viewBox: `0 0 ${left * 2 + perLine * size} ${shown.length * (height + 3) + 14}`,
      width: left * 2 + perLine * size, role: 'img', 'aria-label': text});
    svg.append(el('text', {x: left, y: 9}, 'bytes of 128-byte lines; grey: sectors of 32 bytes that move, blue: bytes that lanes use'));
    shown.forEach((line, row) => {
      const y = 14 + row * (height + 3);
      for (let sector = 0; sector < 4; ++sector)
        svg.append(el('rect', {class: touched.has(line * 4 + sector) ? 'off' : 'frame', x: left + sector * 32 * size,
          y, width: 32 * size - 2, height}));
    });
    for (const l of lanes) {
      const row = shown.indexOf(Math.floor(l.address / 128));
      if (row < 0) continue;
      const tipText = `lane ${l.lane}: byte ${l.address % 128} of line ${row}, sector ${Math.floor(l.address % 128 / 32)}`;
      svg.append(el('rect', {class: 'cell', x: left + (l.address % 128) * size, y: 14 + row * (height + 3) + 2,
        width: Math.min(worst.width, 128 - l.address % 128) * size - 1, height: height - 4, 'data-tip': tipText}));
    }
    svg.addEventListener('pointermove', (event) => (event.target.dataset && event.target.dataset.tip
      ? showTip(event.target.dataset.tip, event.clientX, event.clientY) : hideTip()));
    svg.addEventListener('pointerleave', hideTip);
    return el('figure', {style: 'margin: .4rem 0'}, el('figcaption', {},
      text + (lines.length > shown.length ? ` (the first ${shown.length} lines are shown)` : '')), svg);
  }

  // Rows are executions one after the other, columns lanes: filled lanes take the branch, pale ones do not.
  function splitMap(branch) {
    const size = 13, left = 26;
    const text = `Divergent executions of warp ${branch.warp} in block (${branch.block.join(', ')}), one a row`;
    const svg = el('svg', {viewBox: `0 0 ${left + 32 * size} ${16 + branch.splits.length * size}`, width: left + 32 * size,
      role: 'img', 'aria-label': text});
    for (let lane = 0; lane < 32; lane += 4) svg.append(el('text', {x: left + lane * size, y: 10}, lane));
    branch.splits.forEach((split, row) => {
      const active = parseInt(split.active, 16) >>> 0, taken = parseInt(split.taken, 16) >>> 0;
      svg.append(el('text', {x: 4, y: 16 + row * size + 10}, row + 1));
      for (let lane = 0; lane < 32; ++lane) {
        const is = (mask) => (mask >>> lane) & 1;
        svg.append(el('rect', {class: is(taken) ? 'cell' : is(active) ? 'meet' : 'off', x: left + lane * size + 1,
          y: 16 + row * size + 1, width: size - 2, height: size - 2, rx: 1.5,
          'data-tip': `lane ${lane}: ${is(taken) ? 'takes the branch' : is(active) ? 'goes on' : 'not here'}`}));
      }
    });
    svg.addEventListener('pointermove', (event) => (event.target.dataset && event.target.dataset.tip
      ? showTip(event.target.dataset.tip, event.clientX, event.clientY) : hideTip()));
    svg.addEventListener('pointerleave', hideTip);
    return el('figure', {style: 'margin: .4rem 0'}, el('figcaption', {}, text + '; blue lanes take it, red ones go on'), svg);
  }

  function histogram(ways) {
    const entries = Object.entries(ways).map(([way, count]) => [Number(way), count]);
    const most = Math.max(...entries.map((entry) => entry[1]));
    const bars = el('div', {class: 'bars', role: 'img',
      'aria-label': entries.map(([way, count]) => `${way}-way: ${format(count)} requests`).join(', ')});
    for (const [way, count] of entries)
      bars.append(el('span', {}, way + '-way'), el('i', {style: `width: ${100 * count / most}%`}), el('span', {}, format(count)));
    return bars;
  }

  // One line's panel.

  const hazardsOf = (index, file, line, rules) => report.hazards.filter((h) => h.launch === index && h.file === file &&
    h.line === line && (!rules || rules.includes(h.rule)));

  function hazardList(hazards) {
    if (hazards.length === 0) return null;
    return el('ul', {}, ...hazards.map((h) => el('li', {}, el('span', {class: 'tag ' + h.level}, h.rule), ' ',
      h.allowed ? el('span', {class: 'dim'}, `allowed${h.allowed_by ? ': ' + h.allowed_by : ''}. `) : null,
      `${h.subject ? h.subject + ': ' : ''}${format(h.count)} ${h.unit}${h.ideal ? ' instead of ' + format(h.ideal) : ''}. ${h.cause}`,
      h.advice ? el('strong', {}, ' Advice: ' + h.advice) : null)));
  }

  function accessPanel(launch, index, line) {
    const box = el('div', {class: 'access'},
      el('h3', {}, line.op + (line.variable ? ' of ' + line.variable : '')));
    const mark = line.estimate ? '~' : '', markL1 = knowsL1 ? '' : '~', meetsInL1 = line.l1_wavefronts > line.l1_ideal;
    const facts = isShared(line)
      ? `${counted(line.requests, 'request')}, ${counted(line.wavefronts, 'wavefront', mark)}, ideal ${format(line.ideal)}, worst ${mark}${line.max_way}-way`
      : `${counted(line.requests, 'request')}, ${counted(line.sectors, 'sector', mark)}, ideal ${format(line.sectors_ideal)}, ` +
        `${counted(line.bytes_moved, 'byte')} moved for ${format(line.bytes_asked)}` +
        (line.l1_unknown ? ', wavefronts of L1 not known' : meetsInL1 ? `, ${counted(line.l1_wavefronts, 'wavefront', markL1)} of L1, ideal ${format(line.l1_ideal)}` : '');
    const below = [line.merged ? '→ ' + line.merged : '', line.merge_doubt ? '? ' + line.merge_doubt : '',
      mark ? '~ No rule is known for what the hardware does here.' : '',
      line.l1_unknown ? 'How lanes of 32 bytes meet in the banks of L1 has not been measured.' : '',
      markL1 && meetsInL1 && !line.l1_unknown ? '~ of L1: taken over from chips of 9.0, where it was measured.' : ''];
    box.append(el('p', {class: excess(line) > 0 ? 'bad' : 'good'}, facts),
      ...below.filter(Boolean).map((text) => el('p', {class: 'dim'}, text)));
    if (isShared(line)) {
      if (Object.keys(line.ways).length) box.append(el('h3', {}, 'Requests by n-way'), histogram(line.ways));
      if (line.map) box.append(pattern(line.map, 'Worst access'));
      if (line.typical_map) box.append(pattern(line.typical_map, 'Most frequent access'));
      for (const advice of report.advice)
        if (advice.launch === index && advice.file === line.file && advice.line === line.line && advice.map)
          box.append(el('p', {}, el('strong', {}, 'After: '), advice.change), pattern(advice.map, 'The worst access then'));
    } else if (line.space === 'global' && line.worst) {
      box.append(sectorMap(line.worst));
    }
    return box;
  }

  function branchPanel(branch) {
    const all = branch.taken + branch.not_taken + branch.divergent;
    const box = el('div', {class: 'access'}, el('h3', {}, branch.backward ? 'Branch (of a loop)' : 'Branch'),
      el('p', {class: branch.divergent ? 'bad' : 'good'}, `${counted(all, 'execution')}: ${format(branch.taken)} taken by all lanes, ` +
        `${format(branch.not_taken)} by none, ${format(branch.divergent)} divergent` +
        (branch.apart ? `; ${percent(branch.idle / (32 * branch.apart))} of the lane slots idle meanwhile` : '')));
    if (branch.splits.length) box.append(splitMap(branch));
    return box;
  }

  // One kernel.

  function linesOf(launch) {
    const files = new Map();
    const at = (file, line) => {
      if (!files.has(file)) files.set(file, new Map());
      if (!files.get(file).has(line)) files.get(file).set(line, {accesses: [], branches: [], source: ''});
      return files.get(file).get(line);
    };
    for (const line of launch.lines) {
      const entry = at(line.file, line.line);
      entry.accesses.push(line);
      entry.source = entry.source || line.source;
    }
    for (const branch of launch.branches) {
      const entry = at(branch.file, branch.line);
      entry.branches.push(branch);
      entry.source = entry.source || branch.source;
    }
    return files;
  }

  // How much of the kernel's cost over the ideal a line has, from 0 to 1; and its numbers in words.
  function heatOf(entry, sums, launch) {
    let heat = 0;
    const words = [];
    for (const line of entry.accesses) {
      if (isShared(line)) {
        heat = Math.max(heat, excess(line) / Math.max(1, sums.wavefronts - sums.ideal));
        words.push(`${format(line.wavefronts)} / ${format(line.ideal)} wf`);
      } else if (line.space === 'global') {
        heat = Math.max(heat, excess(line) / Math.max(1, sums.sectors - sums.sectorsIdeal));
        words.push(`${format(line.sectors)} / ${format(line.sectors_ideal)} sect`);
      } else if (line.space === 'local') {
        words.push(`${format(line.sectors)} local`);
      } else {
        heat = Math.max(heat, excess(line) / Math.max(1, line.sectors));
        words.push(`${format(line.sectors)} / ${format(line.sectors_ideal)} to other blocks`);
      }
    }
    for (const branch of entry.branches) {
      heat = Math.max(heat, branch.idle / Math.max(1, 32 * launch.warp_instructions));
      if (branch.divergent) words.push(`${format(branch.divergent)} diverge`);
    }
    return {heat, words: words.join(', ')};
  }

  let current = {index: -1, hot: [], at: -1};

  function openLine(position) {
    if (position < 0 || position >= current.hot.length) return;
    const {row, show} = current.hot[position];
    for (const old of document.querySelectorAll('.source tr.open')) old.classList.remove('open');
    row.classList.add('open');
    row.scrollIntoView({block: 'nearest'});
    current.at = position;
    show();
  }

  function sourceView(launch, index, sums, detail) {
    const box = el('div', {class: 'source', role: 'region', 'aria-label': 'Source', tabindex: 0});
    const hot = [];
    for (const [file, lines] of linesOf(launch)) {
      const text = report.sources[file];
      const numbers = text ? text.map((line, i) => i + 1) : [...lines.keys()].sort((a, b) => a - b);
      const first = Math.max(1, Math.min(...lines.keys()) - 12), last = Math.max(...lines.keys()) + 12;
      const rows = [];
      for (const n of numbers) {
        if (n < first || n > last) continue;
        const entry = lines.get(n);
        const code = text ? text[n - 1] : entry.source;
        if (!entry) {
          rows.push(el('tr', {}, el('td', {class: 'cost'}), el('td', {class: 'number'}, String(n)), el('td', {class: 'code'}, code)));
          continue;
        }
        const {heat, words} = heatOf(entry, sums, launch);
        const position = hot.length;
        const button = el('button', {type: 'button', 'aria-label': `line ${n}: ${words || 'uniform branch'}`}, words || '·');
        const row = el('tr', {class: 'hot', onclick: () => openLine(hot.findIndex((h) => h.row === row))},
          el('td', {class: 'cost', style: heat > 0 ? `background: rgba(var(--heat), ${(0.12 + 0.6 * heat).toFixed(2)})` : null}, button),
          el('td', {class: 'number'}, String(n)), el('td', {class: 'code'}, code));
        hot.push({row, heat, position, show: () => {
          detail.replaceChildren(el('h2', {}, `${file}:${n}`), el('p', {}, el('code', {}, entry.source || code.trim())),
            ...[hazardList(hazardsOf(index, file, n))].filter(Boolean),
            ...entry.accesses.map((line) => accessPanel(launch, index, line)),
            ...entry.branches.map(branchPanel));
        }});
        rows.push(row);
      }
      box.append(table(file, ['cost', 'line', 'source'], rows, 0));
    }
    current.hot = hot.slice().sort((a, b) => b.heat - a.heat || a.position - b.position);
    return box;
  }

  function showKernel(index, focus) {
    const launch = report.launches[index], sums = sumsOf(launch), kernel = byId('kernel');
    current = {index, hot: [], at: -1};
    for (const row of document.querySelectorAll('#summary tr.chosen')) row.classList.remove('chosen');
    const row = byId('row-' + index);
    if (row) row.classList.add('chosen');
    const detail = el('div', {class: 'detail', role: 'region', 'aria-label': 'Line', tabindex: 0},
      el('p', {class: 'dim'}, 'Choose a line to see who meets whom.'));
    const source = sourceView(launch, index, sums, detail);
    const machine = launch.machine;
    const facts = [
      sums.wavefronts ? `Shared memory: ${format(sums.wavefronts)} wavefronts, ideal ${format(sums.ideal)}.` : '',
      sums.sectors ? `Global memory: ${format(sums.sectors)} sectors, ideal ${format(sums.sectorsIdeal)}.` : '',
      `${format(launch.warp_instructions)} warp instructions` + (launch.counted
        ? `, ${percent(launch.warp_efficiency)} of their lanes active; ${percent(launch.branch_efficiency)} of the branches uniform.`
        : '; accesses were not counted.'),
      launch.debug ? 'Compiled for a debugger (-G): these are not the numbers of the program as it is meant to run. Compile with -lineinfo instead.' : '',
      launch.failed ? 'The kernel failed: its results are not to be trusted.' : '',
      leastTime(launch), launch.uncounted ? `Not counted: ${launch.uncounted}.` : '',
      machine.has_occupancy ? `Occupancy: ${machine.warps} of ${machine.most_warps} warps (${machine.blocks} blocks of a multiprocessor; limit: ` +
        `${machine.limiter}${machine.registers ? '' : '; registers unknown'}). ${machine.next_step}` : ''];
    const others = report.hazards.filter((h) => h.launch === index && (!h.file || ['register-spill', 'low-occupancy'].includes(h.rule) ||
      report.findings.some((f) => f.launch === index && f.kind === h.rule)));
    kernel.replaceChildren(...[el('h2', {}, launch.kernel),
      el('p', {class: 'dim'}, `grid ${shape(launch.grid)}, block ${shape(launch.block)}, ${format(launch.shared_bytes)} bytes of shared memory` +
        (launch.launches > 1 ? `, sum of ${format(launch.launches)} launches` : '')),
      ...facts.filter(Boolean).map((text) => el('p', {}, text)), hazardList(others),
      el('div', {class: 'tools'},
        el('button', {type: 'button', onclick: () => openLine(0)}, 'Hottest line'),
        el('button', {type: 'button', onclick: () => openLine(current.at + 1)}, 'Next (n)'),
        el('button', {type: 'button', onclick: () => openLine(current.at - 1)}, 'Previous (p)')),
      el('div', {class: 'columns'}, source, detail)].filter(Boolean));
    openLine(0);
    if (focus) kernel.focus();
  }

  // The summary.

  function summary() {
    const worst = Math.max(1, ...report.launches.map((launch) => { const s = sumsOf(launch); return s.wavefronts - s.ideal; }));
    const worstSectors = Math.max(1, ...report.launches.map((launch) => { const s = sumsOf(launch); return s.sectors - s.sectorsIdeal; }));
    const heat = (value, most) => (value > 0 ? `background: rgba(var(--heat), ${(0.1 + 0.5 * value / most).toFixed(2)})` : null);
    const hazards = report.launches.map(() => 0);
    for (const h of report.hazards) if (h.launch !== null && !h.allowed) ++hazards[h.launch];
    const rows = report.launches.map((launch, i) => {
      const s = sumsOf(launch), conflicts = s.wavefronts - s.ideal, over = s.sectors - s.sectorsIdeal;
      const ifCounted = (text) => (launch.counted ? text : '-');
      return el('tr', {id: 'row-' + i},
        el('td', {class: 'name'}, el('button', {class: 'link', type: 'button', onclick: () => showKernel(i, true)}, launch.kernel)),
        el('td', {}, shape(launch.grid)), el('td', {}, shape(launch.block)), el('td', {}, format(launch.launches)),
        el('td', {style: heat(conflicts, worst)}, ifCounted(`${format(s.wavefronts)} / ${format(s.ideal)}`)),
        el('td', {}, s.way ? s.way + '-way' : ''),
        el('td', {style: heat(over, worstSectors)}, ifCounted(`${format(s.sectors)} / ${format(s.sectorsIdeal)}`)),
        el('td', {}, ifCounted(percent(launch.warp_efficiency))), el('td', {}, ifCounted(percent(launch.branch_efficiency))),
        el('td', {}, launch.machine.has_occupancy ? `${launch.machine.warps} / ${launch.machine.most_warps}` : ''),
        el('td', {class: hazards[i] ? 'bad' : 'good'}, format(hazards[i])));
    });
    byId('summary').append(table('', ['kernel', 'grid', 'block', 'launches', 'wavefronts / ideal', 'worst', 'sectors / ideal',
      'lanes active', 'uniform branches', 'warps', 'hazards'], rows, 1));
    const ofProgram = report.hazards.filter((h) => h.launch === null);
    if (ofProgram.length) byId('summary').after(el('h3', {}, 'Of the program'), hazardList(ofProgram));
    byId('about').textContent = [report.arch + ', ' + report.arch_description, ...report.notes].join('. ');
  }

  // Light and dark.

  const root = document.documentElement, button = byId('theme');
  function setTheme(dark) {
    root.dataset.theme = dark ? 'dark' : 'light';
    button.setAttribute('aria-pressed', String(dark));
  }
  setTheme(matchMedia('(prefers-color-scheme: dark)').matches);
  button.addEventListener('click', () => setTheme(root.dataset.theme !== 'dark'));

  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'n') openLine(current.at + 1);
    if (event.key === 'p') openLine(current.at - 1);
  });

  summary();
  const cost = (launch) => { const s = sumsOf(launch); return s.wavefronts - s.ideal; };
  let first = 0;
  report.launches.forEach((launch, i) => { if (cost(launch) > cost(report.launches[first])) first = i; });
  if (report.launches.length) showKernel(first, false);
  scrollTo(0, 0);  // the page is opened at its begin, its hottest line already chosen
  root.dataset.ready = String(Math.round(performance.now()));
})();
