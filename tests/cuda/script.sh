#!/bin/sh
# A program that is a script: an interpreter runs it, and nothing in it uses CUDA.
echo "$0 $1"
exit 5
